"""Windows over JSON and Python literals: one per group of scalar values that belong together."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rag_guard.text.windows.structures import (
    Mapping,
    Node,
    Scalar,
    Sequence,
    blank_escapes,
    find_escapes,
)
from rag_guard.text.windows.window import Field, Window, split_identifier

MAX_RECORD = 600
"""Code points up to which an object is one window; larger ones are taken apart."""

_SENTENCE_INSIDE = re.compile(r"[.!?…][\"')\]]*\s+\S|[。！？।]\s*\S|\n")
_SENTENCE_END = re.compile(r"[.!?…。！？।][\"')\]]*\s*\Z")
_NAME_KEYS = frozenset({"name", "title", "label", "headline", "heading", "subject"})

SplitSentences = Callable[[str], list[tuple[int, int]]]
Range = tuple[int, int]


@dataclass(frozen=True)
class _Scope:
    """Where a node stands: the words of the keys above it and the ranges that say so."""

    path: tuple[str, ...]
    keys: tuple[Range, ...]  # the keys above, outermost first
    names: tuple[Range, ...]  # the values that name the records around it


def record_windows(
    text: str,
    root: Mapping | Sequence,
    document: int,
    split_sentences: SplitSentences,
    path: tuple[str, ...] = (),
    context: tuple[Range, ...] = (),
) -> tuple[list[Window], list[Range]]:
    """The windows of one structure of ``text`` in order, and the ranges of the escapes in its texts.

    ``path`` and ``context`` are what the text around the structure adds (headings).
    """
    builder = _Builder(text, document, split_sentences, path, context)
    builder.visit(root, _Scope((), (), ()), None)
    builder.flush()
    return builder.windows, builder.escapes


def is_text(scalar: Scalar) -> bool:
    """Whether a value is prose to be read in sentences rather than one datum."""
    value = scalar.value
    if not isinstance(value, str) or len(value) < 40:
        return False
    if len(value) > 300 or _SENTENCE_INSIDE.search(value):
        return True
    return len(value) > 100 and _SENTENCE_END.search(value) is not None


class _Builder:
    def __init__(
        self,
        text: str,
        document: int,
        split_sentences: SplitSentences,
        path: tuple[str, ...],
        context: tuple[Range, ...],
    ) -> None:
        self.text = text
        self.document = document
        self.split_sentences = split_sentences
        self.path = path
        self.context = context
        self.windows: list[Window] = []
        self.escapes: list[Range] = []
        self.run: list[Field] = []
        self.run_range: Range = (0, 0)
        self.run_scope: _Scope | None = None

    def visit(self, node: Node, scope: _Scope, key: Scalar | None) -> None:
        """Add the windows of ``node``, whose own key, if any, is the last of ``scope.path``."""
        if isinstance(node, Scalar):
            if is_text(node):
                self.flush()
                self.add_sentences(node, scope)
            else:
                start = key.outer_start if key is not None else node.outer_start
                self.extend_run((start, node.outer_end), [_field(node, scope.path, key)], scope)
        elif self.is_small(node):
            fields = self.collect(node, scope.path, key)
            # The key of a nested object reads with it, while the object itself is the window
            # where it has none.
            start = key.outer_start if key is not None else node.start
            if isinstance(node, Mapping):
                self.flush()
            self.extend_run((start, node.end), fields, scope)
            if isinstance(node, Mapping):
                self.flush()
        elif isinstance(node, Mapping):
            name = _name_field(node)
            names = scope.names if name is None else (*scope.names, (name.start, name.end))
            self.flush()
            for member in node.members:
                inner = _Scope(
                    (*scope.path, split_identifier(str(member.key.value))),
                    (*scope.keys, (member.key.start, member.key.end)),
                    names,
                )
                self.visit(member.value, inner, member.key)
            self.flush()
        else:
            for position, item in enumerate(node.items):
                if isinstance(item, Scalar) and not is_text(item):
                    start = key.outer_start if key is not None and position == 0 else item.outer_start
                    self.extend_run((start, item.outer_end), [_field(item, scope.path, key)], scope)
                else:
                    self.flush()
                    self.visit(item, scope, None)
                    self.flush()

    def is_small(self, node: Mapping | Sequence) -> bool:
        """Whether ``node`` reads as one piece of evidence: short, without prose, no list of records."""
        if node.end - node.start > MAX_RECORD:
            return False
        pending: list[Node] = [node]
        while pending:
            current = pending.pop()
            if isinstance(current, Scalar):
                if is_text(current):
                    return False
            elif isinstance(current, Mapping):
                pending.extend(member.value for member in current.members)
            elif any(isinstance(item, Mapping) for item in current.items):
                return False
            else:
                pending.extend(current.items)
        return True

    def collect(self, node: Node, path: tuple[str, ...], key: Scalar | None) -> list[Field]:
        """The fields of every value in ``node``, nested keys flattened into paths."""
        if isinstance(node, Scalar):
            return [_field(node, path, key)]
        if isinstance(node, Mapping):
            return [
                field
                for member in node.members
                for field in self.collect(member.value, (*path, split_identifier(str(member.key.value))), member.key)
            ]
        return [field for item in node.items for field in self.collect(item, path, key)]

    def extend_run(self, covered: Range, fields: list[Field], scope: _Scope) -> None:
        if self.run_scope is not None and covered[1] - self.run_range[0] > MAX_RECORD:
            self.flush()
        if self.run_scope is None:
            self.run_range = covered
            self.run_scope = scope
        else:
            self.run_range = (self.run_range[0], covered[1])
        self.run.extend(fields)

    def flush(self) -> None:
        """Close the window of the scalar values read so far."""
        scope, (start, end) = self.run_scope, self.run_range
        if scope is None:
            return
        fields, self.run, self.run_scope = tuple(self.run), [], None
        if not any(map(str.isalnum, self.text[start:end])):
            return
        path = _common_path(fields, scope.path)
        context = self.outside((*self.context, *scope.keys, *scope.names), start, end)
        self.windows.append(Window(self.document, start, end, "record", (*self.path, *path), fields, context))

    def add_sentences(self, scalar: Scalar, scope: _Scope) -> None:
        source = self.text[scalar.start : scalar.end]
        readable = source if scalar.raw else blank_escapes(source)
        if readable is not source:
            self.escapes.extend((scalar.start + start, scalar.start + end) for start, end in find_escapes(source))
        context = (*self.context, *scope.keys, *scope.names)
        for start, end in self.split_sentences(readable):
            window_range = (scalar.start + start, scalar.start + end)
            self.windows.append(
                Window(
                    self.document,
                    *window_range,
                    "prose",
                    (*self.path, *scope.path),
                    (),
                    self.outside(context, *window_range),
                )
            )

    def outside(self, ranges: tuple[Range, ...], start: int, end: int) -> tuple[Range, ...]:
        kept = {item for item in ranges if item[0] < item[1] and (item[1] <= start or end <= item[0])}
        return tuple(sorted(kept))


def _field(scalar: Scalar, path: tuple[str, ...], key: Scalar | None) -> Field:
    name = path[-1] if path else ""
    name_start, name_end = (key.start, key.end) if key is not None else (scalar.start, scalar.start)
    return Field(name, path, scalar.start, scalar.end, name_start, name_end, scalar.value)


def _common_path(fields: tuple[Field, ...], fallback: tuple[str, ...]) -> tuple[str, ...]:
    """The keys above every field: a window of one record's values has the path of that record."""
    if not fields:
        return fallback
    parents = [field.path[:-1] for field in fields]
    common = parents[0]
    for parent in parents[1:]:
        length = 0
        for one, other in zip(common, parent, strict=False):
            if one != other:
                break
            length += 1
        common = common[:length]
    return common


def _name_field(node: Mapping) -> Scalar | None:
    """The value that names a record: of a key such as ``name`` or ``product_title``, else a leading text."""
    first: Scalar | None = None
    for position, member in enumerate(node.members):
        value = member.value
        if not isinstance(value, Scalar) or not isinstance(value.value, str) or is_text(value):
            continue
        words = split_identifier(str(member.key.value)).split()
        if words and words[-1] in _NAME_KEYS:
            return value
        if position == 0 and any(map(str.isalpha, value.value)):
            first = value
    return first
