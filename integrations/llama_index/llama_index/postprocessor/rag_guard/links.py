"""Which guard an answer belongs to: postprocessing and synthesis of one query run under the same span.

LlamaIndex tells a node postprocessor nothing about the answer. But it dispatches an event with the very response that
the engine is about to return, and the span of that synthesis is a sibling of the span of the postprocessors.
"""

from __future__ import annotations

import contextvars
import threading
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent
from llama_index.core.instrumentation.events.synthesis import SynthesizeEndEvent
from llama_index.core.instrumentation.span import BaseSpan, active_span_id
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.postprocessor.rag_guard.checking import Checker, logger
from llama_index.postprocessor.rag_guard.responses import Task, block
from pydantic import PrivateAttr

_PARTS = (BaseNodePostprocessor, BaseRetriever, BaseSynthesizer)
"""Parts of an engine; the engine is whatever holds them."""


MARKS = 256
"""Queries remembered per span; a workflow that runs for days asks many."""


@dataclass(frozen=True)
class Mark:
    """A guard that saw the nodes of a query: what it will check the answer with."""

    checker: Checker
    nodes: tuple[NodeWithScore, ...]
    warnings: tuple[str, ...] = ()


@dataclass
class _Span:
    parent: str | None
    is_part: bool
    marks: deque[Mark] = field(default_factory=lambda: deque(maxlen=MARKS))
    below: deque[Mark] = field(default_factory=lambda: deque(maxlen=MARKS))


class OpenSpans(BaseSpanHandler[BaseSpan]):
    """Every open span with its parent and the guards that ran right under it; closed spans are forgotten."""

    _spans: dict[str, _Span] = PrivateAttr(default_factory=dict)

    @classmethod
    def class_name(cls) -> str:
        return "RagGuardOpenSpans"

    def span_enter(
        self,
        id_: str,
        bound_args: Any,
        instance: Any | None = None,
        parent_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self._spans[id_] = _Span(parent_id, isinstance(instance, _PARTS))

    def span_exit(
        self, id_: str, bound_args: Any, instance: Any | None = None, result: Any | None = None, **kwargs: Any
    ) -> None:
        self._spans.pop(id_, None)

    def span_drop(
        self, id_: str, bound_args: Any, instance: Any | None = None, err: BaseException | None = None, **kwargs: Any
    ) -> None:
        self._spans.pop(id_, None)

    def new_span(self, *args: Any, **kwargs: Any) -> None:
        return None

    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> None:
        return None

    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> None:
        return None

    def engine(self, span_id: str | None) -> tuple[_Span | None, _Span | None]:
        """The engine that a part's span belongs to, and the outermost span of the same request."""
        home: _Span | None = None
        outermost: _Span | None = None
        while span_id is not None and (span := self._spans.get(span_id)) is not None:
            if home is None and not span.is_part:
                home = span
            if home is not None:
                outermost = span
            span_id = span.parent
        return home, outermost

    @property
    def size(self) -> int:
        """Number of spans remembered."""
        return len(self._spans)


class _LooseNodes:
    """Nodes that a guard saw outside any engine, for code that calls the parts by hand."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._marks: dict[int, tuple[weakref.ref[NodeWithScore], Checker, tuple[str, ...]]] = {}

    def add(self, mark: Mark) -> None:
        with self._lock:
            for node in mark.nodes:
                key = id(node)
                reference = weakref.ref(node, lambda _, key=key: self._marks.pop(key, None))  # type: ignore[misc]
                self._marks[key] = (reference, mark.checker, mark.warnings)

    def of(self, nodes: Sequence[NodeWithScore]) -> list[Mark]:
        found: list[Mark] = []
        for node in nodes:
            reference, checker, warnings = self._marks.get(id(node), (None, None, ()))
            if reference is None or checker is None or reference() is not node:
                continue
            if all(mark.checker.core is not checker.core for mark in found):
                found.append(Mark(checker, tuple(nodes), warnings))
        return found

    @property
    def size(self) -> int:
        return len(self._marks)


SPANS = OpenSpans()
LOOSE = _LooseNodes()

_watchers: ContextVar[tuple[Checker, ...]] = ContextVar("rag_guard_watchers", default=())
_retrievals: ContextVar[tuple[list[NodeWithScore], ...]] = ContextVar("rag_guard_retrievals", default=())
_lock = threading.Lock()
_installed = False


class SynthesisHook(BaseEventHandler):
    """Checks each answer of a guarded engine, or of a watched block, as soon as it is synthesized."""

    @classmethod
    def class_name(cls) -> str:
        return "RagGuardSynthesisHook"

    def handle(self, event: Any, **kwargs: Any) -> None:
        if not isinstance(event, SynthesizeEndEvent):
            return
        checker: Checker | None = None
        try:
            question = event.query.query_str if isinstance(event.query, QueryBundle) else event.query
            for mark in _marks_for(event):
                checker = mark.checker
                Task(checker, event.response, question, warnings=mark.warnings).run()
            for checker in _watchers.get():
                Task(checker, event.response, question, strict_stream=True).run()
        except BaseException:
            # The dispatcher would drop it without a word.
            logger.exception("the guard failed")
            if checker is not None:
                block(event.response, checker)
            raise


def _marks_for(event: SynthesizeEndEvent) -> list[Mark]:
    home, outermost = SPANS.engine(event.span_id)
    if home is not None and home.marks:
        return _distinct(home.marks)
    nodes = list(getattr(event.response, "source_nodes", None) or ())
    if outermost is None:
        return LOOSE.of(nodes)
    # A workflow: its steps are spans of their own, so the nodes themselves say what belongs together.
    same = {id(node) for node in nodes}
    return _distinct([mark for mark in outermost.below if any(id(node) in same for node in mark.nodes)])


def _distinct(marks: Iterable[Mark]) -> list[Mark]:
    """One mark per guard: an engine that retrieves twice still has one answer."""
    last = {id(mark.checker.core): mark for mark in marks}
    return list(last.values())


class _RetrievalHook(BaseEventHandler):
    @classmethod
    def class_name(cls) -> str:
        return "RagGuardRetrievalHook"

    def handle(self, event: Any, **kwargs: Any) -> None:
        if isinstance(event, RetrievalEndEvent):
            for found in _retrievals.get():
                found.extend(event.nodes)


def install() -> None:
    """Register with LlamaIndex's dispatchers, once for the process."""
    global _installed
    with _lock:
        if not _installed:
            get_dispatcher().add_span_handler(SPANS)
            get_dispatcher("llama_index.core.response_synthesizers.base").add_event_handler(SynthesisHook())
            get_dispatcher("llama_index.core.base.base_retriever").add_event_handler(_RetrievalHook())
            _installed = True


def mark_query(mark: Mark) -> None:
    """Remember that a guard saw the nodes of the query that is running now."""
    home, outermost = SPANS.engine(active_span_id.get())
    if home is None or outermost is None:
        LOOSE.add(mark)
        return
    home.marks.append(mark)
    outermost.below.append(mark)


@contextmanager
def watched_by(checker: Checker) -> Iterator[None]:
    """Check every answer synthesized in this block and in the tasks it starts."""
    install()
    token = _watchers.set((*_watchers.get(), checker))
    try:
        yield
    finally:
        _reset(_watchers, token, checker)


def _reset(variable: ContextVar[tuple[Checker, ...]], token: contextvars.Token[Any], checker: Checker) -> None:
    try:
        variable.reset(token)
    except ValueError:
        # The block ended in another context, as an async fixture's does.
        variable.set(tuple(one for one in variable.get() if one is not checker))


@contextmanager
def retrievals() -> Iterator[list[NodeWithScore]]:
    """The nodes that retrievers return in this block and in the tasks it starts."""
    install()
    found: list[NodeWithScore] = []
    token = _retrievals.set((*_retrievals.get(), found))
    try:
        yield found
    finally:
        _retrievals.reset(token)
