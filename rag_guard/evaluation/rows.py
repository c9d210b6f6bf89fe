"""Typed rows of labelled answers, and records that name their file and line when a field is wrong."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_guard.errors import InvalidInputError
from rag_guard.schema import Document, Example


@dataclass(frozen=True)
class LabelSpan:
    """A range of the answer that an annotator called hallucinated.

    Attributes:
        start, end: code points into the answer, half-open.
        type: the data set's own name for the kind of error, or None.
        implicit_true: true in the world although the documents do not say it (RAGTruth).
    """

    start: int
    end: int
    type: str | None = None
    implicit_true: bool = False


@dataclass(frozen=True)
class LabelledExample:
    """One answer with its documents and what annotators said of it.

    Attributes:
        id: unique within the data set.
        labels: the hallucinated spans; empty for a clean answer, None if nobody labelled it.
        hallucinated: whether the answer has any hallucination, None if nobody said.
        group: answers to one source share it: split and resample by it, never by row.
        labels_complete: False if the answer is known to have hallucinations that no span marks.
        soft_labels: ``(start, end, probability)`` from several annotators, or None (Mu-SHROOM only).
        task, model, split, language: as the data set names them, or None.
    """

    id: str
    answer: str
    documents: tuple[Document, ...]
    question: str | None
    labels: tuple[LabelSpan, ...] | None
    hallucinated: bool | None
    group: str
    labels_complete: bool = True
    soft_labels: tuple[tuple[int, int, float], ...] | None = None
    task: str | None = None
    model: str | None = None
    split: str | None = None
    language: str | None = None

    @property
    def example(self) -> Example:
        """What a guard is given to check."""
        return Example(answer=self.answer, documents=self.documents, question=self.question, id=self.id)


@dataclass(frozen=True)
class Record:
    """One JSON object with the place it came from, so that every complaint about it names that place."""

    path: Path
    line: int
    values: Mapping[str, Any]

    def error(self, field: str, problem: str) -> InvalidInputError:
        """The error to raise when ``field`` cannot be used."""
        return InvalidInputError(f"{self.path}, line {self.line}: {field} {problem}")

    def get(self, field: str, default: Any = None) -> Any:
        """The value of ``field``; ``default`` where it is missing or null."""
        value = self.values.get(field)
        return default if value is None else value

    def text(self, field: str) -> str:
        """The string in ``field``, which must be there."""
        value = self.values.get(field)
        if not isinstance(value, str):
            raise self.error(field, "is missing" if value is None else f"is {value!r}; write a string")
        return value

    def optional_text(self, field: str) -> str | None:
        """The string in ``field``, or None where it is missing or null."""
        return None if self.values.get(field) is None else self.text(field)

    def name(self, field: str, default: str) -> str:
        """The id in ``field``, a string or a number, as a string."""
        value = self.get(field, default)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise self.error(field, f"is {value!r}; write a string or a number")
        return str(value)

    def range(self, field: str, start: Any, end: Any, answer: str) -> tuple[int, int]:
        """``start`` and ``end`` if they are a non-empty range of ``answer``."""
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(answer):
            raise self.error(field, f"is {start!r}:{end!r}, not a range of the answer's {len(answer)} characters")
        return start, end

    def labels(self, field: str, answer: str) -> tuple[LabelSpan, ...]:
        """The spans in ``field``: a list of ``{start, end}`` with optional ``text`` and ``type``."""
        spans = []
        for position, item in enumerate(self._list(field, "{start, end}")):
            name = f"{field}[{position}]"
            if not isinstance(item, Mapping):
                raise self.error(name, f"is {item!r}; write {{start, end}}")
            start, end = self.range(name, item.get("start"), item.get("end"), answer)
            text = item.get("text")
            if text is not None and answer[start:end] != text:
                raise self.error(
                    f"{name}.text",
                    f"is {text!r}, but {start}:{end} of the answer is {answer[start:end]!r}; offsets count code points",
                )
            kind = item.get("label_type") or item.get("type") or item.get("label")
            spans.append(LabelSpan(start, end, str(kind) if kind else None, bool(item.get("implicit_true"))))
        return tuple(spans)

    def documents(self, field: str = "documents") -> tuple[Document, ...]:
        """The documents in ``field``: a string, or a list of strings or of ``{text, id, metadata}``."""
        if isinstance(self.values.get(field), str):
            return (Document(text=self.text(field)),)
        documents = []
        for position, item in enumerate(self._list(field, "strings")):
            if isinstance(item, str):
                documents.append(Document(text=item))
            elif isinstance(item, Mapping) and isinstance(item.get("text"), str):
                identifier, metadata = item.get("id"), item.get("metadata")
                documents.append(
                    Document(
                        text=item["text"],
                        id=None if identifier is None else str(identifier),
                        metadata=metadata if isinstance(metadata, Mapping) else {},
                    )
                )
            else:
                raise self.error(f"{field}[{position}]", f"is {item!r}; write a string or {{text, id, metadata}}")
        return tuple(documents)

    def _list(self, field: str, of: str) -> Sequence[Any]:
        value = self.values.get(field)
        if not isinstance(value, list):
            raise self.error(field, "is missing" if value is None else f"is {value!r}; write a list of {of}")
        return value


def read_records(path: Path) -> Iterator[Record]:
    """The records of a ``.jsonl``, ``.jsonl.gz`` or ``.parquet`` file, one at a time; blank lines are
    skipped.

    Raises:
        InvalidInputError: the file is missing, is no UTF-8 JSON lines, or is parquet and ``pyarrow`` is
        missing.
    """
    if path.suffix == ".parquet":
        yield from _read_parquet(path)
        return
    opener: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield Record(path, number, _parse(path, number, line))
    except FileNotFoundError as error:
        raise InvalidInputError(f"{path}: no such file") from error
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise InvalidInputError(f"{path}: cannot be read as UTF-8 JSON lines ({error})") from error


def _parse(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        values = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"{path}, line {number}: not JSON ({error})") from error
    if not isinstance(values, dict):
        raise InvalidInputError(f"{path}, line {number}: is {values!r:.80}; write one JSON object per line")
    return values


def _read_parquet(path: Path) -> Iterator[Record]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise InvalidInputError(f'{path}: reading parquet needs pyarrow; pip install "rag-guard[bench]"') from error
    number = 0
    for batch in parquet.ParquetFile(path).iter_batches(batch_size=256):
        for values in batch.to_pylist():
            number += 1
            yield Record(path, number, values)
