"""The strings inside a structured answer, by path, and the answer with some of them replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

Path = tuple[Any, ...]


def strings_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every non-blank string in models, dicts, lists and tuples, depth first."""
    if isinstance(value, str):
        if value.strip():
            yield path, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from strings_in(getattr(value, name, None), (*path, name))
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from strings_in(part, (*path, key))
    elif isinstance(value, (list, tuple)):
        for position, part in enumerate(value):
            yield from strings_in(part, (*path, position))


def with_strings(value: Any, changed: Mapping[Path, str], path: Path = ()) -> Any:
    """A copy of ``value`` with the strings at some paths replaced; everything else is kept."""
    if not any(where[: len(path)] == path for where in changed):
        return value
    if isinstance(value, str):
        return changed[path]
    if isinstance(value, BaseModel):
        fields = {
            name: with_strings(getattr(value, name, None), changed, (*path, name)) for name in type(value).model_fields
        }
        return value.model_copy(update={name: new for name, new in fields.items() if new is not getattr(value, name)})
    if isinstance(value, Mapping):
        return {key: with_strings(part, changed, (*path, key)) for key, part in value.items()}
    return type(value)(with_strings(part, changed, (*path, position)) for position, part in enumerate(value))


def dotted(path: Path) -> str:
    """A path for people: ``items.0.name``."""
    return ".".join(map(str, path))
