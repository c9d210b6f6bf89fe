"""What a run retrieved: documents, prompts and questions by run, taken from LangChain's callback events.

Every step of a chain is a run with a parent, so the runs of one request form a tree. A guard knows its own
place in that tree and looks for evidence from there upwards; nothing is ever shared between trees.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Literal
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tracers.context import register_configure_hook

from langchain_rag_guard.values import CONTEXT_KEYS, QUESTION_KEYS, documents_in, message_text, question_in
from rag_guard import Document

Scope = Literal["nearest", "parent", "root"]
"""How far up to look: the nearest enclosing run with evidence, the guard's own sequence only, or the whole
request."""

MAX_TREES = 4096
"""Requests remembered at once. Trees go when their root run ends; the bound is for streams that nobody ever
closes."""

SETTING_WORDS = 8
"""A prompt variable of fewer words is a setting such as a language or a tone, not evidence."""

INSTRUCTION_WORDS = 20
"""A prompt of fewer words besides the question is an instruction, not evidence."""

PROBES, PROBE_LENGTH = 5, 60


@dataclass(frozen=True)
class Captured:
    """The evidence and the question of one answer, as the run shows them."""

    documents: tuple[Document, ...] = ()
    question: str | None = None


@dataclass
class _Run:
    parent: UUID | None
    root: UUID
    kind: str
    question: str | None
    holds_evidence: bool = False


@dataclass(frozen=True)
class _Entry:
    """One piece of evidence: retrieved documents, the variables of a prompt template, or a model's whole
    prompt."""

    run: UUID
    kind: Literal["documents", "variables", "prompt"]
    content: Any
    query: str | None = None


@dataclass
class _Tree:
    runs: dict[UUID, _Run] = field(default_factory=dict)
    entries: list[_Entry] = field(default_factory=list)


class RunRecorder(BaseCallbackHandler):
    """Records runs and their evidence; one recorder serves any number of concurrent requests.

    ``run_inline``: async callback managers call it on the event loop, in order, before they go on; every
    event is a few dictionary operations.
    """

    run_inline = True
    raise_error = False

    def __init__(self, max_trees: int = MAX_TREES) -> None:
        self._max_trees = max_trees
        self._lock = threading.Lock()
        self._trees: OrderedDict[UUID, _Tree] = OrderedDict()
        self._roots: dict[UUID, UUID] = {}

    @property
    def size(self) -> int:
        """Number of runs remembered. No ``__len__``: LangChain takes a falsy handler for a missing one."""
        return len(self._roots)

    def open(self, run_id: UUID) -> None:
        """Make a run the root of a tree before its children start."""
        self._start(run_id, None, "chain", None)

    def evidence(self, run_id: UUID | None, scope: Scope = "nearest", question: str | None = None) -> Captured:
        """The documents that the answer of a step directly under ``run_id`` was made from, and the question.

        Documents of the nearest enclosing run with a retrieval, less those that no model call there was
        shown; without any retrieval, what the prompt brought along.
        """
        with self._lock:
            root = self._roots.get(run_id) if run_id is not None else None
            if root is None or run_id is None:
                return Captured()
            tree = self._trees[root]
            enclosing = list(_ancestors(tree, run_id))
            asked = (text for run in enclosing if (text := tree.runs[run].question))
            question = question or next(asked, None)
            started = {run: position for position, run in enumerate(tree.runs)}
            entries = sorted(tree.entries, key=lambda entry: started[entry.run])
            paths = [(entry, set(_ancestors(tree, entry.run))) for entry in entries]
        places = {"nearest": enclosing, "parent": enclosing[:1], "root": enclosing[-1:]}[scope]
        by_place = [[entry for entry, path in paths if place in path] for place in places]
        if question is None:
            queries = [entry.query for entries in by_place for entry in entries if entry.query]
            question = queries[-1] if queries else None
        return Captured(_choose(by_place, question), question)

    def _start(self, run_id: UUID, parent_id: UUID | None, kind: str, question: str | None) -> None:
        with self._lock:
            root = self._roots.get(parent_id, run_id) if parent_id is not None else run_id
            if root == run_id:
                # Also a run whose parent started unseen: it can only answer for itself.
                parent_id = None
                self._trees[run_id] = _Tree()
                while len(self._trees) > self._max_trees:
                    self._forget(next(iter(self._trees)))
            self._trees[root].runs[run_id] = _Run(parent_id, root, kind, question)
            self._roots[run_id] = root

    def _add(self, run_id: UUID | None, entry: _Entry) -> None:
        """Keep evidence under a run, except what a retriever's inner runs saw: its own result is what
        counts."""
        with self._lock:
            root = self._roots.get(run_id) if run_id is not None else None
            if root is None or run_id is None:
                return
            tree = self._trees[root]
            above = list(_ancestors(tree, run_id))
            outside = above[1:] if entry.run == run_id else above
            if any(tree.runs[run].kind == "retriever" for run in outside):
                return
            for run in above:
                tree.runs[run].holds_evidence = True
            tree.entries.append(entry)

    def _end(self, run_id: UUID) -> None:
        with self._lock:
            root = self._roots.get(run_id)
            if root == run_id:
                self._forget(root)
            elif root is not None and not self._trees[root].runs[run_id].holds_evidence:
                del self._trees[root].runs[run_id]
                del self._roots[run_id]

    def _fail(self, run_id: UUID) -> None:
        """A failed run's output reached nobody, so nothing below it is evidence (a retry's first attempt)."""
        with self._lock:
            root = self._roots.get(run_id)
            if root is not None and root != run_id:
                tree = self._trees[root]
                tree.entries = [entry for entry in tree.entries if run_id not in _ancestors(tree, entry.run)]
        self._end(run_id)

    def _forget(self, root: UUID) -> None:
        for run in self._trees.pop(root).runs:
            del self._roots[run]

    def on_chain_start(
        self,
        serialized: dict[str, Any] | None,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        is_prompt = kwargs.get("run_type") == "prompt"
        self._start(run_id, parent_run_id, "chain", None if is_prompt else question_in(inputs))
        if is_prompt and isinstance(inputs, dict):
            self._add(run_id, _Entry(run_id, "variables", dict(inputs)))

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        self._start(run_id, parent_run_id, "tool", None)

    def on_retriever_start(
        self,
        serialized: dict[str, Any] | None,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        self._start(run_id, parent_run_id, "retriever", question_in(query))

    def on_chat_model_start(
        self,
        serialized: dict[str, Any] | None,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        self._start_model(run_id, parent_run_id, [message for batch in messages for message in batch])

    def on_llm_start(
        self,
        serialized: dict[str, Any] | None,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        self._start_model(run_id, parent_run_id, prompts)

    def _start_model(self, run_id: UUID, parent_id: UUID | None, prompt: Sequence[Any]) -> None:
        self._start(run_id, parent_id, "model", None)
        self._add(run_id, _Entry(run_id, "prompt", prompt))

    def on_retriever_end(
        self, documents: Sequence[Any], *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        with self._lock:
            root = self._roots.get(run_id)
            query = self._trees[root].runs[run_id].question if root is not None else None
        self._add(run_id, _Entry(run_id, "documents", list(documents), query))
        self._end(run_id)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._end(run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._end(run_id)

    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._end(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._fail(run_id)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._fail(run_id)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._fail(run_id)

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._fail(run_id)


def _ancestors(tree: _Tree, run_id: UUID) -> Iterator[UUID]:
    """The run itself, its parent, and so on up to the root."""
    current: UUID | None = run_id
    while current is not None and (run := tree.runs.get(current)) is not None:
        yield current
        current = run.parent


def _choose(by_place: list[list[_Entry]], question: str | None) -> tuple[Document, ...]:
    """Evidence from entries grouped by enclosing run, nearest first."""
    prompts = next((found for entries in by_place if (found := _of_kind(entries, "prompt"))), [])
    shown = " ".join(" ".join(text.split()) for entry in prompts for text in _texts(entry.content))
    for distance, entries in enumerate(by_place):
        retrievals = _of_kind(entries, "documents")
        if not retrievals:
            continue
        documents = _distinct(document for entry in retrievals for document in documents_in(entry.content))
        places = [(place, document) for document in documents if (place := _place(document.text, shown)) >= 0]
        if places:
            # In the prompt's order: that is what a citation such as [2] counts by.
            return tuple(document for _, document in sorted(places, key=itemgetter(0)))
        # None in the prompt: a formatter rewrote them, or, further up, they belong to another step of the
        # request.
        if documents and (distance == 0 or not shown):
            return documents
        break
    return _from_prompt(by_place, shown, question)


def _from_prompt(by_place: list[list[_Entry]], shown: str, question: str | None) -> tuple[Document, ...]:
    for entries in by_place:
        prompts, variables = _of_kind(entries, "prompt"), _of_kind(entries, "variables")
        if variables:
            return _from_variables(variables[-1].content, shown)
        if prompts:
            return _from_messages(prompts[-1].content, question)
    return ()


def _from_variables(variables: dict[str, Any], shown: str) -> tuple[Document, ...]:
    """What filled the prompt template: its context if it has one by a known name, else every longer text."""
    named = [variables[key] for key in CONTEXT_KEYS if key in variables]
    others = [value for key, value in variables.items() if key not in QUESTION_KEYS]
    documents: list[Document] = []
    for value in named or others:
        if isinstance(value, (list, tuple)) and any(isinstance(item, BaseMessage) for item in value):
            continue  # earlier turns of the conversation: the model's own words are no evidence
        documents += _documents_or_none(value)
    least = 1 if named else SETTING_WORDS
    return tuple(
        document
        for document in documents
        if len(document.text.split()) >= least and (not shown or _place(document.text, shown) >= 0)
    )


def _documents_or_none(value: Any) -> tuple[Document, ...]:
    try:
        return documents_in(value, source="prompt")
    except TypeError:
        return ()  # a number, a date, an object: nothing with text


def _from_messages(prompt: Sequence[Any], question: str | None) -> tuple[Document, ...]:
    """A prompt without a template: all that was said to the model, unless it is no more than question and
    orders."""
    documents = [
        Document(text=text, source="tool" if isinstance(part, ToolMessage) else "prompt")
        for part, text in zip(prompt, _texts(prompt), strict=True)
        if text.strip() and not isinstance(part, AIMessage)
    ]
    told = " ".join(document.text for document in documents)
    words = len((told.replace(question, " ") if question else told).split())
    return tuple(documents) if words >= INSTRUCTION_WORDS else ()


def _of_kind(entries: list[_Entry], kind: str) -> list[_Entry]:
    return [entry for entry in entries if entry.kind == kind]


def _texts(prompt: Sequence[Any]) -> list[str]:
    return [message_text(part) if isinstance(part, BaseMessage) else str(part) for part in prompt]


def _distinct(documents: Iterator[Document] | Any) -> tuple[Document, ...]:
    return tuple({(document.id, document.text): document for document in documents}.values())


def _place(text: str, shown: str) -> int:
    """Where a prompt has a document or, since a formatter may cut it, a part of it; -1 if nowhere."""
    flat = " ".join(text.split())
    last = max(len(flat) - PROBE_LENGTH, 0)
    for start in (last * probe // (PROBES - 1) for probe in range(PROBES)):
        place = shown.find(flat[start : start + PROBE_LENGTH]) if flat else -1
        if place >= 0:
            return place
    return -1


_collector: RunRecorder | None = None
_collector_lock = threading.Lock()


def install_collector() -> RunRecorder:
    """The process-wide recorder; the first call registers it with LangChain, for good.

    The handler is the ContextVar's default rather than a value set in it: a thread that copied no context
    sees it too.
    """
    global _collector
    with _collector_lock:
        if _collector is None:
            _collector = RunRecorder()
            variable: ContextVar[RunRecorder] = ContextVar("rag_guard_recorder", default=_collector)
            register_configure_hook(variable, inheritable=True)  # type: ignore[arg-type]
        return _collector
