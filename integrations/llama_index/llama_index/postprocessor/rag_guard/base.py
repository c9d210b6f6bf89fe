"""The guard as a node postprocessor: one object that sees the nodes and repairs the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.bridge.pydantic import ConfigDict, Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.postprocessor.rag_guard.checking import Checker, StreamMode, core_guard, logger
from llama_index.postprocessor.rag_guard.links import Mark, install, mark_query, watched_by
from llama_index.postprocessor.rag_guard.nodes import contradictions, without_duplicates

from rag_guard import HallucinationGuard as CoreGuard
from rag_guard import InvalidInputError, RagGuardError, Report

if TYPE_CHECKING:
    from llama_index.postprocessor.rag_guard.query_engine import GuardedQueryEngine

_STREAM_MODES = ("buffer", "sentence", "annotate")


@dataclass
class Watch:
    """What happened in a ``watching()`` block.

    Attributes:
        reports: of every answer, in order.
        errors: what the policy raises; the first is raised when the block ends.
    """

    reports: list[Report] = field(default_factory=list)
    errors: list[RagGuardError] = field(default_factory=list)


class HallucinationGuard(BaseNodePostprocessor):
    """Checks, and under a policy changes, the answers of the engine whose ``node_postprocessors`` it is in.

    The nodes go through; the answer synthesized from them is checked against what the model saw of its source nodes.
    The engine's own response object is changed in place before anyone else gets it, so chat memory keeps the checked
    text too; the report is in ``response.metadata[report_key]`` as a plain dict.

    Nothing can be raised from here: what ``policy="raise"`` and ``on_error="raise"`` would raise is blocked and
    logged. In ``aquery`` without streaming the check runs on the event loop. Use :meth:`wrap_query_engine` for errors
    and for asynchronous servers, :meth:`watching` for errors from chat engines.

    Args:
        guard: a ``rag_guard.HallucinationGuard``, or the name of a preset, or None for the default one.
        stream_mode: ``"buffer"`` streams only checked answers, ``"sentence"`` each sentence once it is checked,
            ``"annotate"`` everything at once and unchanged, with the report at the end.
        report_key: where the report goes in a response's metadata.
        include_documents: whether reports in metadata hold the documents' text and metadata too.
        drop_duplicates: leave out nodes that say almost word for word what a node before them says.
        warn_on_contradictions: compare the nodes pairwise; contradictions are logged and are warnings in the report.
        on_report: called with every ``rag_guard.Report``; its exceptions are logged.
        **options: the core guard's own arguments (``policy``, ``on_error``, ``thresholds``, ...); with a ``guard``,
            what to change in it.

    Raises:
        InvalidInputError: an argument has a value that cannot be used.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    guard: CoreGuard = Field(exclude=True, repr=False)
    stream_mode: StreamMode = "buffer"
    report_key: str = "rag_guard"
    include_documents: bool = False
    drop_duplicates: bool = False
    warn_on_contradictions: bool = False
    on_report: Callable[[Report], object] | None = Field(default=None, exclude=True, repr=False)

    def __init__(self, guard: CoreGuard | str | None = None, **options: Any) -> None:
        own = {name: options.pop(name) for name in _OWN_FIELDS if name in options}
        mode = own.get("stream_mode", "buffer")
        if mode not in _STREAM_MODES:
            raise InvalidInputError(f"stream_mode={mode!r} is not known; choose one of {', '.join(_STREAM_MODES)}")
        own["guard"] = core_guard(guard, options)
        super().__init__(**own)
        install()

    @classmethod
    def class_name(cls) -> str:
        return "HallucinationGuard"

    @property
    def checker(self) -> Checker:
        """The core guard with this object's settings."""
        return Checker(self.guard, self.stream_mode, self.report_key, self.include_documents, self.on_report)

    def wrap_query_engine(self, query_engine: BaseQueryEngine) -> GuardedQueryEngine:
        """A query engine that checks the answers of another one; see :class:`GuardedQueryEngine`."""
        from llama_index.postprocessor.rag_guard.query_engine import GuardedQueryEngine

        return GuardedQueryEngine(query_engine, self)

    @contextmanager
    def watching(self) -> Iterator[Watch]:
        """Check every answer synthesized inside the block, by any query or chat engine, attached to this or not.

        Only the block's own thread and tasks are concerned. What a policy raises is raised when the block ends; the
        answer is blocked by then, in chat memory too. Reading a stream raises at once.
        """
        watch = Watch()
        own = self.on_report

        def collect(report: Report) -> None:
            watch.reports.append(report)
            if own is not None:
                own(report)

        with watched_by(replace(self.checker, on_report=collect, raised=watch.errors)):
            yield watch
        if watch.errors:
            raise watch.errors[0]

    async def arun(self, agent: Any, user_msg: Any, **options: Any) -> Any:
        """Run an agent or an ``AgentWorkflow`` and check its final answer; see :func:`agents.run_guarded`."""
        from llama_index.postprocessor.rag_guard.agents import run_guarded

        return await run_guarded(self.checker, agent, user_msg, **options)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return self._marked(*self._improved(nodes))

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not (self.drop_duplicates or self.warn_on_contradictions):
            return self._marked(nodes, [])
        return self._marked(*await asyncio.to_thread(self._improved, nodes))

    def _improved(self, nodes: list[NodeWithScore]) -> tuple[list[NodeWithScore], list[str]]:
        """The nodes to go on with, and what is wrong with them. Nodes pass when this fails."""
        warnings: list[str] = []
        try:
            if self.drop_duplicates:
                nodes = without_duplicates(nodes)
            if self.warn_on_contradictions:
                warnings = contradictions(nodes, self.guard)
        except Exception:
            logger.exception("the nodes could not be compared")
        for warning in warnings:
            logger.warning(warning)
        return nodes, warnings

    def _marked(self, nodes: list[NodeWithScore], warnings: Sequence[str]) -> list[NodeWithScore]:
        mark_query(Mark(self.checker, tuple(nodes), tuple(warnings)))
        return nodes


_OWN_FIELDS = frozenset(HallucinationGuard.model_fields) - {"guard"}


def as_guard(guard: HallucinationGuard | CoreGuard | str | None, options: dict[str, Any]) -> HallucinationGuard:
    """The guard itself, or one made from the same arguments that :class:`HallucinationGuard` takes.

    Raises:
        InvalidInputError: an argument has a value that cannot be used.
    """
    if not isinstance(guard, HallucinationGuard):
        return HallucinationGuard(guard, **options)
    if not options:
        return guard
    own = {name: getattr(guard, name) for name in _OWN_FIELDS}
    return HallucinationGuard(guard.guard, **{**own, **options})
