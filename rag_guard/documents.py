"""Turn what callers pass as documents into :class:`~rag_guard.schema.Document` objects, or say clearly why not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rag_guard.errors import UnsupportedDocumentError
from rag_guard.schema import Document


def as_documents(documents: Any) -> tuple[Document, ...]:
    """Coerce ``documents`` to a tuple of :class:`Document`; the order, and so the indices in evidence, is kept.

    Accepts None (no documents), a string, a :class:`Document`, any object with ``page_content`` or ``get_content()``,
    or an iterable of them. Duck typing keeps the frameworks out of the core.

    Raises:
        UnsupportedDocumentError: a ``TypeError`` that names the offending position and type.
    """
    if documents is None:
        return ()
    if _is_single(documents):
        return (_as_document(documents, 0),)
    if isinstance(documents, (Mapping, bytes, bytearray)) or not isinstance(documents, Iterable):
        raise _unsupported(documents, None)
    return tuple(_as_document(item, position) for position, item in enumerate(documents))


def _is_single(value: Any) -> bool:
    return isinstance(value, (str, Document)) or hasattr(value, "page_content") or hasattr(value, "get_content")


def _as_document(value: Any, position: int) -> Document:
    if isinstance(value, Document):
        return value
    if isinstance(value, str):
        return Document(text=value)
    text = getattr(value, "page_content", None)
    if text is None and callable(getattr(value, "get_content", None)):
        text = value.get_content()
    if not isinstance(text, str):
        raise _unsupported(value, position)
    identifier = getattr(value, "id", None) or getattr(value, "node_id", None)
    metadata = getattr(value, "metadata", None)
    return Document(
        text=text,
        id=str(identifier) if identifier is not None else None,
        metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
    )


def _unsupported(value: Any, position: int | None) -> UnsupportedDocumentError:
    where = "documents" if position is None else f"documents[{position}]"
    return UnsupportedDocumentError(
        f"{where} is {type(value).__module__}.{type(value).__qualname__}; pass a str, a rag_guard.Document, an object "
        "with .page_content or .get_content(), or a sequence of these"
    )
