"""What ``rag-guard check`` reads: answers, documents and rows from files or standard input.

Texts keep their line ends, so that offsets in a report are those of the file; a byte order
mark is not part of it.
"""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

from rag_guard.errors import InvalidInputError
from rag_guard.schema import Document, Example

STDIN = "-"

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_JSON_LINES = {".jsonl", ".ndjson"}


def read_text(source: str) -> str:
    """The text of a file, or of standard input for ``-``: UTF-8, or UTF-16 or -32 with a byte order mark."""
    with _open(source) as stream:
        return _decode(stream.read(), _name(source))


def read_documents(sources: Sequence[str]) -> list[Document]:
    """All documents of the files, in order.

    ``.json`` holds an array of strings or of objects with ``text`` or ``page_content``, or one such object;
    ``.jsonl`` and ``.ndjson`` have one of them per line. Every other file is one document, named after the
    file, and so is a ``.json`` object without those keys.
    """
    documents: list[Document] = []
    for source in sources:
        text, suffix = read_text(source), Path(source).suffix.lower()
        if suffix in _JSON_LINES:
            for number, line in enumerate(text.split("\n"), 1):
                if line.strip():
                    where = f"{source} line {number}"
                    documents.append(_document(_json(line, where), where))
        elif suffix == ".json":
            documents += _json_documents(_json(text, source), text, source)
        else:
            documents.append(Document(text=text, id=None if source == STDIN else source))
    return documents


def read_rows(
    source: str, documents: Sequence[Document], on_bad_row: Callable[[InvalidInputError], None]
) -> Iterator[Example]:
    """One example per line of a JSON-lines file, as the lines arrive.

    Args:
        source: a path, or ``-`` for standard input.
        documents: for rows that bring none of their own.
        on_bad_row: told about each line that is no usable row; the others are still read.
    """
    with _open(source) as stream:
        position = 0
        for number, line in enumerate(stream, 1):
            name = f"{_name(source)} line {number}"
            try:
                text = _decode(line, name, position)
                if text.strip():
                    yield _row(_json(text.rstrip("\r\n"), name), name, documents)
            except InvalidInputError as error:
                on_bad_row(error)
            position += len(line)


def count_lines(source: str) -> int | None:
    """Lines of a file, to tell how far a run is; None for what can be read only once, as standard input."""
    if source == STDIN or not Path(source).is_file():
        return None
    with _open(source) as stream:
        return sum(1 for line in stream if line.strip())


def _open(source: str) -> AbstractContextManager[IO[bytes]]:
    if source == STDIN:
        return nullcontext(sys.stdin.buffer)
    try:
        return open(source, "rb")
    except FileNotFoundError:
        here = Path.cwd()
        raise InvalidInputError(f"{source}: no such file (looked from {here}); check the path") from None
    except IsADirectoryError:
        raise InvalidInputError(f"{source} is a folder; name its files, for example {source}/*.md") from None
    except OSError as error:
        raise InvalidInputError(f"{source} cannot be read: {error.strerror or error}") from None


def _name(source: str) -> str:
    return "standard input" if source == STDIN else source


def _decode(data: bytes, name: str, offset: int = 0) -> str:
    encoding = "utf-8"
    if offset == 0:
        for mark, marked in _BOMS:
            if data.startswith(mark):
                data, encoding, offset = data[len(mark) :], marked, len(mark)
                break
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        where = f"byte 0x{data[error.start]:02x} at position {offset + error.start}"
        where += f" (line {line})" if " line " not in name else ""
        raise InvalidInputError(
            f"{name} is not valid {encoding.upper()}: {where}; save it as UTF-8, "
            "for example with iconv -f WINDOWS-1252 -t UTF-8"
        ) from None


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if " line " not in name else ""
        raise InvalidInputError(f"{name} is not JSON: {line}column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise InvalidInputError(f"{name} is not usable JSON: it is nested too deeply") from None


def _json_documents(value: Any, text: str, name: str) -> list[Document]:
    if isinstance(value, list):
        return [_document(item, f"{name} item {number}") for number, item in enumerate(value, 1)]
    if isinstance(value, Mapping) and not {"text", "page_content"} & value.keys():
        return [Document(text=text, id=name)]
    return [_document(value, name)]


def _document(value: Any, name: str) -> Document:
    if isinstance(value, str):
        return Document(text=value)
    text = value.get("text", value.get("page_content")) if isinstance(value, Mapping) else None
    if not isinstance(text, str):
        found = f"an object with {_keys(value)}" if isinstance(value, Mapping) else f"{json.dumps(value)[:60]}"
        raise InvalidInputError(
            f'{name} is no document: {found}; use a string or an object with "text" or "page_content"'
        )
    identifier, metadata = value.get("id"), value.get("metadata")
    return Document(
        text=text,
        id=None if identifier is None else str(identifier),
        metadata=metadata if isinstance(metadata, Mapping) else {},
    )


def _row(value: Any, name: str, documents: Sequence[Document]) -> Example:
    if not isinstance(value, Mapping):
        raise InvalidInputError(f'{name} is no object; write {{"answer": "...", "documents": ["..."]}}')
    answer, question, identifier = value.get("answer"), value.get("question"), value.get("id")
    if not isinstance(answer, str):
        problem = f'"answer" is {json.dumps(answer)[:60]}' if "answer" in value else f"only {_keys(value)}"
        raise InvalidInputError(f'{name} has no text under "answer": {problem}')
    if question is not None and not isinstance(question, str):
        raise InvalidInputError(f'{name}: "question" is {json.dumps(question)[:60]}; use a string or null')
    own = value.get("documents")
    if own is not None and not isinstance(own, (str, list)):
        own = [own]
    items = [own] if isinstance(own, str) else own
    return Example(
        answer=answer,
        question=question,
        id=None if identifier is None else str(identifier),
        documents=list(documents)
        if items is None
        else [_document(item, f"{name} document {number}") for number, item in enumerate(items, 1)],
    )


def _keys(value: Mapping[str, Any]) -> str:
    return "the keys " + ", ".join(json.dumps(key) for key in list(value)[:8]) if value else "no keys"
