"""What a chain's output says: where its answer, documents and question are, and how the checked answer goes
back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    BaseMessageChunk,
    ChatMessage,
    HumanMessage,
)
from langchain_core.runnables.utils import AddableDict

from rag_guard import Document, InvalidInputError, Report
from rag_guard.documents import as_documents

ANSWER_KEYS = ("answer", "output", "result", "response", "text", "generation")
CONTEXT_KEYS = ("context", "source_documents", "documents", "docs", "contexts")
QUESTION_KEYS = ("question", "input", "query")


@dataclass(frozen=True)
class Keys:
    """Names of a dict output's parts; None means the first known name that is present."""

    answer: str | None = None
    context: str | None = None
    question: str | None = None
    report: str = "rag_guard"

    def may_hold_answer(self, key: str) -> bool:
        return key == self.answer if self.answer is not None else key in ANSWER_KEYS


@dataclass(frozen=True)
class Reading:
    """The checkable content of one value; ``documents`` is None where the value does not carry any."""

    value: Any
    answer: str
    documents: tuple[Document, ...] | None
    question: str | None
    answer_key: str | None = None


def read(value: Any, keys: Keys) -> Reading | None:
    """The answer, documents and question of a chain's output; None if it holds no final answer.

    A message that calls tools is not a final answer. Offsets in a report of a message with content blocks
    point into its text blocks joined, which is LangChain's own ``message.text``.

    Raises:
        InvalidInputError: a dict lacks a key that was named on purpose.
        UnsupportedDocumentError: the value's documents hold something without text.
    """
    if isinstance(value, dict):
        return _read_dict(value, keys)
    text = answer_text(value)
    return None if text is None else Reading(value, text, None, None)


def _read_dict(value: dict[str, Any], keys: Keys) -> Reading | None:
    answer_key = _find(value, "answer_key", keys.answer, ANSWER_KEYS)
    if answer_key is None:
        return None
    text = answer_text(value[answer_key])
    if text is None:
        return None
    context_key = _find(value, "context_key", keys.context, CONTEXT_KEYS)
    question_key = _find(value, "question_key", keys.question, QUESTION_KEYS)
    context = None if context_key is None else value[context_key]
    return Reading(
        value,
        text,
        documents=None if context is None else documents_in(context),
        question=None if question_key is None else question_in(value[question_key]),
        answer_key=answer_key,
    )


def _find(value: dict[str, Any], argument: str, named: str | None, known: Iterable[str]) -> str | None:
    if named is None:
        return next((key for key in known if key in value), None)
    if named not in value:
        raise InvalidInputError(
            f"{argument}={named!r} is not in the chain's output, which has the keys "
            f"{sorted(map(str, value))}; name one of them or leave {argument} out"
        )
    return named


def answer_text(value: Any) -> str | None:
    """The text of a final answer; None for tool calls and for anything that is not an answer."""
    if isinstance(value, str):
        return value
    if isinstance(value, AIMessage):
        return None if calls_tools(value) else message_text(value)
    return message_text(value) if isinstance(value, ChatMessage) else None


def calls_tools(value: Any) -> bool:
    return isinstance(value, AIMessage) and bool(value.tool_calls or value.invalid_tool_calls)


def message_text(message: BaseMessage) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "".join(block if isinstance(block, str) else block["text"] for block in content if _is_text(block))


def _is_text(block: Any) -> bool:
    if isinstance(block, str):
        return True
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def question_in(value: Any) -> str | None:
    """The question that a chain's input states: a string, a message, the last human message, or a dict with
    one."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, BaseMessage):
        return question_in(message_text(value))
    if isinstance(value, dict):
        return next((question_in(value[key]) for key in QUESTION_KEYS if key in value), None)
    if isinstance(value, list):
        human = next((item for item in reversed(value) if isinstance(item, HumanMessage)), None)
        return None if human is None else question_in(message_text(human))
    return None


def documents_in(context: Any, source: str = "retrieved") -> tuple[Document, ...]:
    """Everything with text in a context value, in order.

    Besides what the core takes: messages, ``(document, score)`` pairs, documents as JSON objects, and lists
    or dicts of any of these (several retrievers).
    """
    documents = as_documents(list(_leaves(context)))
    if source == "retrieved":
        return documents
    return tuple(document.model_copy(update={"source": source}) for document in documents)


def _leaves(context: Any) -> Iterator[Any]:
    if context is None:
        return
    if isinstance(context, BaseMessage):
        yield message_text(context)
    elif isinstance(context, dict):
        text = next((context[key] for key in ("page_content", "text", "content") if key in context), None)
        if isinstance(text, str):
            identifier, metadata = context.get("id"), context.get("metadata")
            yield Document(
                text=text,
                id=None if identifier is None else str(identifier),
                metadata=metadata if isinstance(metadata, dict) else {},
            )
        else:
            for part in context.values():
                yield from _leaves(part)
    elif isinstance(context, tuple) and len(context) == 2 and isinstance(context[1], (int, float)):
        yield from _leaves(context[0])
    elif isinstance(context, (list, tuple)):
        for part in context:
            yield from _leaves(part)
    else:
        yield context


def write(reading: Reading, report: Report, record: dict[str, Any], keys: Keys) -> Any:
    """The chain's own output again: same type, checked answer, and ``record`` (the report) where there is a
    place.

    A string has none; the report of a string goes out as an event and through ``on_report`` only.
    """
    value = reading.value
    if isinstance(value, BaseMessage):
        metadata = {**value.response_metadata, keys.report: record}
        return _with_answer(value, report).model_copy(update={"response_metadata": metadata})
    if isinstance(value, dict):
        changed = {
            **value,
            reading.answer_key: _with_answer(value[reading.answer_key], report),
            keys.report: record,
        }
        return AddableDict(changed) if isinstance(value, AddableDict) else changed
    return _with_answer(value, report)


def _with_answer(answer: Any, report: Report) -> Any:
    if report.output == report.answer:
        return answer
    if not isinstance(answer, BaseMessage):
        return report.output
    if isinstance(answer.content, str):
        return answer.model_copy(update={"content": report.output})
    blocks: list[str | dict[Any, Any]] = []
    replaced = False
    for block in answer.content:
        if not _is_text(block):
            blocks.append(block)
        elif not replaced:
            # Annotations of the old text, such as a provider's citations, would point at the wrong places.
            kept = {key: block[key] for key in ("id", "index") if key in block} if isinstance(block, dict) else {}
            blocks.append({"type": "text", "text": report.output, **kept})
            replaced = True
    return answer.model_copy(update={"content": blocks})


_ADDABLE = (str, AddableDict, BaseMessageChunk)


class StreamBuffer:
    """Adds a stream's chunks up, and lets pass at once what cannot be part of an answer.

    Chunks that do not add up (a string after a message, two whole messages) become parts of their own.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._passed: set[str] = set()
        self.parts: list[Any] = []

    def add(self, chunk: Any) -> Any | None:
        """Take one chunk; returns what may go on now, or None."""
        if isinstance(chunk, dict):
            through = {key: part for key, part in chunk.items() if not self._keys.may_hold_answer(key)}
            self._passed.update(through)
            self._join(AddableDict(chunk))
            return AddableDict(through) if through else None
        if isinstance(chunk, (str, AIMessage, ChatMessage)):
            self._join(chunk)
            return None
        return chunk

    def _join(self, chunk: Any) -> None:
        last: Any = self.parts[-1] if self.parts else None
        if any(isinstance(last, kind) and isinstance(chunk, kind) for kind in _ADDABLE):
            self.parts[-1] = last + chunk
        else:
            self.parts.append(chunk)

    def rest(self, outcome: Any) -> Any | None:
        """What of a checked part has not gone on yet, or None."""
        if not isinstance(outcome, dict):
            return outcome
        left = {key: part for key, part in outcome.items() if key not in self._passed or key == self._keys.report}
        return AddableDict(left) if left else None
