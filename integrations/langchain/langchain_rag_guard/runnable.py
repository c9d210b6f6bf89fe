"""The guard as the last step of a chain, and around a whole chain."""

from __future__ import annotations

import asyncio
import inspect
import logging
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from langchain_core.runnables.base import RunnableLike, coerce_to_runnable
from pydantic import ConfigDict, Field
from pydantic_core import to_jsonable_python

from langchain_rag_guard.capture import Captured, Scope, install_collector
from langchain_rag_guard.values import Keys, Reading, StreamBuffer, calls_tools, read, write
from rag_guard import Example, HallucinationError, InvalidInputError, RagGuardError, Report
from rag_guard import HallucinationGuard as CoreGuard

if TYPE_CHECKING:
    from langchain_rag_guard.chain import GuardedChain

EVENT = "rag_guard"
"""Name of the custom event that carries each report."""

logger = logging.getLogger("langchain_rag_guard")

_SETTINGS = tuple(
    name for name in inspect.signature(CoreGuard.__init__).parameters if name not in ("self", "preset", "detectors")
)

Outcome = Any
"""A chain's output, or the exception that takes its place in a batch."""


class HallucinationGuard(RunnableSerializable[Any, Any]):
    """A chain's last step: ``chain | HallucinationGuard()`` checks each answer against its run's documents.

    The output has the type of the input. Strings and messages keep everything but their text, and that too
    unless the policy changed it; dicts keep all keys and gain ``report_key``; a message has its report in
    ``response_metadata[report_key]``. Every report is also sent as the custom event ``"rag_guard"`` and
    passed to ``on_report``. Outputs without a final answer (tool calls, unknown types) go through unchecked.

    Documents come from the value if it carries them; else from the retrievers of the run, less what no model
    call was shown; else from the prompt. Streaming holds the answer back until it is checked; a dict's other
    keys go on at once.

    Args:
        guard: a ``rag_guard.HallucinationGuard``, or the name of a preset, or None for the default one.
        answer_key: where a dict output has its answer; default: the first usual name in it. Likewise
            ``context_key`` and ``question_key``.
        report_key: where the report goes.
        scope: how far up the run's tree to look for documents: ``"nearest"`` enclosing run with a retrieval,
            ``"parent"``: only the sequence that this guard is a step of, ``"root"``: the whole request.
        autocapture: whether to see the documents of runs whose output does not carry them. Registers one
            handler for the whole process when the first such guard is made; :meth:`wrap` does without it.
        include_documents: whether reports in outputs and events hold the documents' text and metadata too.
        on_report: called with every ``rag_guard.Report``; its exceptions are logged.
        **options: the core guard's own arguments (``policy``, ``on_error``, ``thresholds``, ...); with a
            ``guard``, what to change in it.

    Raises:
        InvalidInputError: an argument has a value that cannot be used.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    guard: CoreGuard = Field(exclude=True, repr=False)
    policy: str
    thresholds: dict[str, float]
    answer_key: str | None = None
    context_key: str | None = None
    question_key: str | None = None
    report_key: str = "rag_guard"
    scope: Scope = "nearest"
    autocapture: bool = True
    include_documents: bool = False
    on_report: Callable[[Report], object] | None = Field(default=None, exclude=True, repr=False)

    def __init__(self, guard: CoreGuard | str | None = None, **options: Any) -> None:
        own = {name: options.pop(name) for name in (*_OWN_FIELDS, "name") if name in options}
        core = _core_guard(guard, options)
        own.update(guard=core, policy=core.policy, thresholds=dict(core.thresholds))
        super().__init__(**own)
        if self.autocapture:
            install_collector()

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        if self.autocapture:
            install_collector()

    def wrap(self, chain: RunnableLike[Any, Any]) -> GuardedChain:
        """A chain that runs ``chain`` with a recorder of its own per call and checks what comes out.

        For libraries, and for outputs without documents where no process-wide handler is wanted.
        """
        from langchain_rag_guard.chain import GuardedChain

        return GuardedChain(bound=coerce_to_runnable(chain), step=self)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        def run(value: Any, run_manager: Any) -> Any:
            return only(self.check_values([value], [run_manager], [self._look_up(run_manager)]))

        return self._call_with_config(run, input, config)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        async def run(value: Any, run_manager: Any) -> Any:
            return only(await self.acheck_values([value], [run_manager], [self._look_up(run_manager)]))

        return await self._acall_with_config(run, input, config)

    def batch(
        self,
        inputs: list[Any],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any | None,
    ) -> list[Any]:
        """All answers of a batch are checked in one call, each against its own run's documents."""

        def run(values: list[Any], run_manager: list[Any]) -> list[Outcome]:
            return self.check_values(values, run_manager, [self._look_up(manager) for manager in run_manager])

        return self._batch_with_config(run, inputs, config, return_exceptions=return_exceptions)

    async def abatch(
        self,
        inputs: list[Any],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any | None,
    ) -> list[Any]:
        """All answers of a batch are checked in one call, each against its own run's documents."""

        async def run(values: list[Any], run_manager: list[Any]) -> list[Outcome]:
            return await self.acheck_values(values, run_manager, [self._look_up(manager) for manager in run_manager])

        return await self._abatch_with_config(run, inputs, config, return_exceptions=return_exceptions)

    def transform(
        self, input: Iterator[Any], config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> Iterator[Any]:
        def run(chunks: Iterator[Any], run_manager: Any) -> Iterator[Any]:
            yield from self.hold(chunks, run_manager, self._look_up(run_manager))

        yield from self._transform_stream_with_config(input, run, config)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None) -> Iterator[Any]:
        yield from self.transform(iter([input]), config)

    async def atransform(
        self, input: AsyncIterator[Any], config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> AsyncIterator[Any]:
        async def run(chunks: AsyncIterator[Any], run_manager: Any) -> AsyncIterator[Any]:
            async for chunk in self.ahold(chunks, run_manager, self._look_up(run_manager)):
                yield chunk

        async for chunk in self._atransform_stream_with_config(input, run, config):
            yield chunk

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> AsyncIterator[Any]:
        async for chunk in self.atransform(just(input), config):
            yield chunk

    @property
    def _keys(self) -> Keys:
        return Keys(self.answer_key, self.context_key, self.question_key, self.report_key)

    def _look_up(self, run_manager: Any) -> LookUp:
        """Evidence of the run that this step belongs to, asked for only if the value carries none."""
        if not self.autocapture:
            return Captured
        return lambda: install_collector().evidence(run_manager.parent_run_id, self.scope)

    def check_values(self, values: list[Any], managers: Sequence[Any], look_ups: Sequence[LookUp]) -> list[Outcome]:
        outcomes, jobs = self._plan(values, managers, look_ups)
        results = self.guard.try_check_batch([job.example for job in jobs]) if jobs else []
        for job, result in zip(jobs, results, strict=True):
            report = _report_of(result)
            if report is not None:
                record = self._record(report)
                dispatch_custom_event(EVENT, record, config={"callbacks": job.manager.get_child()})
            outcomes[job.position] = self._outcome(job, result)
        return outcomes

    async def acheck_values(
        self, values: list[Any], managers: Sequence[Any], look_ups: Sequence[LookUp]
    ) -> list[Outcome]:
        outcomes, jobs = self._plan(values, managers, look_ups)
        examples = [job.example for job in jobs]
        # In a thread: detection is computation, and the event loop has other requests to serve.
        results = await asyncio.to_thread(self.guard.try_check_batch, examples) if jobs else []
        for job, result in zip(jobs, results, strict=True):
            report = _report_of(result)
            if report is not None:
                record = self._record(report)
                await adispatch_custom_event(EVENT, record, config={"callbacks": job.manager.get_child()})
            outcomes[job.position] = self._outcome(job, result)
        return outcomes

    def _plan(
        self, values: list[Any], managers: Sequence[Any], look_ups: Sequence[LookUp]
    ) -> tuple[list[Outcome], list[_Job]]:
        """What is known before detection: values without an answer, errors, and one job for each of the
        others."""
        outcomes: list[Outcome] = list(values)
        jobs: list[_Job] = []
        for position, (value, manager, look_up) in enumerate(zip(values, managers, look_ups, strict=True)):
            if isinstance(value, Exception):
                continue
            try:
                reading = read(value, self._keys)
            except RagGuardError as error:
                outcomes[position] = error
                continue
            if reading is None:
                _warn_unchecked(value)
                continue
            seen = Captured() if reading.documents is not None and reading.question else look_up()
            documents = seen.documents if reading.documents is None else reading.documents
            question = reading.question or seen.question
            example = Example(answer=reading.answer, documents=documents, question=question)
            jobs.append(_Job(position, reading, example, manager))
        return outcomes, jobs

    def _outcome(self, job: _Job, result: Report | RagGuardError) -> Outcome:
        report = _report_of(result)
        if report is not None and self.on_report is not None:
            try:
                self.on_report(report)
            except Exception:
                logger.exception("on_report failed")
        if isinstance(result, Report):
            return write(job.reading, result, self._record(result), self._keys)
        return result

    def _record(self, report: Report) -> dict[str, Any]:
        """A report as a plain dict: it survives checkpoints, JSON and process borders."""
        left_out = None if self.include_documents else {"documents": {"__all__": {"text", "metadata"}}}
        return cast(dict[str, Any], to_jsonable_python(report, exclude=left_out, fallback=str))

    def hold(self, chunks: Iterator[Any], manager: Any, look_up: LookUp) -> Iterator[Any]:
        buffer = StreamBuffer(self._keys)
        for chunk in chunks:
            if (through := buffer.add(chunk)) is not None:
                yield through
        parts = buffer.parts
        for outcome in self.check_values(parts, [manager] * len(parts), [look_up] * len(parts)):
            if (rest := buffer.rest(_raised(outcome))) is not None:
                yield rest

    async def ahold(self, chunks: AsyncIterator[Any], manager: Any, look_up: LookUp) -> AsyncIterator[Any]:
        buffer = StreamBuffer(self._keys)
        async for chunk in chunks:
            if (through := buffer.add(chunk)) is not None:
                yield through
        parts = buffer.parts
        for outcome in await self.acheck_values(parts, [manager] * len(parts), [look_up] * len(parts)):
            if (rest := buffer.rest(_raised(outcome))) is not None:
                yield rest


LookUp = Callable[[], Captured]

_OWN_FIELDS = frozenset(HallucinationGuard.model_fields) - {"guard", "policy", "thresholds", "name"}


@dataclass(frozen=True)
class _Job:
    position: int
    reading: Reading
    example: Example
    manager: Any


def _core_guard(guard: CoreGuard | str | None, options: Mapping[str, Any]) -> CoreGuard:
    if guard is None or isinstance(guard, str):
        return CoreGuard(guard, **options) if guard else CoreGuard(**options)
    if not isinstance(guard, CoreGuard):
        raise InvalidInputError(
            f"guard is {type(guard).__module__}.{type(guard).__qualname__}; pass a "
            "rag_guard.HallucinationGuard, the name of a preset, or its arguments by name"
        )
    changed = {name: value for name, value in options.items() if getattr(guard, name, None) != value}
    if not changed:
        return guard
    kept = {name: getattr(guard, name) for name in _SETTINGS}
    if changed.get("policy", guard.policy) != "repair":
        kept.pop("repair", None)
    return CoreGuard(**{"detectors": guard.detectors, **kept, **changed})


def _report_of(result: Report | RagGuardError) -> Report | None:
    if isinstance(result, Report):
        return result
    return result.report if isinstance(result, HallucinationError) else None


def _warn_unchecked(value: Any) -> None:
    if calls_tools(value):
        return
    what = f"a dict with the keys {sorted(map(str, value))}" if isinstance(value, dict) else type(value).__name__
    warnings.warn(
        f"the hallucination guard found no answer in {what} and let it through unchecked; if there is one, "
        "name it with answer_key, or put the guard behind the step that returns the answer",
        stacklevel=2,
    )


def _raised(outcome: Outcome) -> Any:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def only(outcomes: list[Outcome]) -> Any:
    return _raised(outcomes[0])


async def just(value: Any) -> AsyncIterator[Any]:
    yield value
