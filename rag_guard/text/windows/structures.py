"""Read JSON, JSON Lines and Python literals out of any text, every value with its offsets.

The parser is tolerant, because retrieved documents are often cut off or almost JSON: it takes both quote
styles, trailing commas, bare words, tuples and sets, and where the syntax breaks it keeps what it has read
so far. Nothing is ever evaluated. It has no recursion and reads each character once, so that time is linear
in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_DEPTH = 64


@dataclass(slots=True)
class Scalar:
    """A string, number, boolean or null; ``start:end`` excludes the quotes that the outer range includes."""

    start: int
    end: int
    outer_start: int
    outer_end: int
    value: str | float | bool | None
    quoted: bool = False
    raw: bool = False


@dataclass(slots=True)
class Member:
    """One ``key: value`` of a mapping."""

    key: Scalar
    value: Node


@dataclass(slots=True)
class Mapping:
    """An object; ``start:end`` includes the braces."""

    start: int
    end: int = -1
    members: list[Member] = field(default_factory=list)


@dataclass(slots=True)
class Sequence:
    """An array, tuple or set; ``start:end`` includes the brackets."""

    start: int
    end: int = -1
    items: list[Node] = field(default_factory=list)


Node = Scalar | Mapping | Sequence

_NO_SPACE = frozenset(map(chr, range(33, 127))) - {"/"}
_SPACE = re.compile(r"(?:\s+|//[^\n]*)*")
# The usual case in one match: a plain string, number or constant with the delimiter after it.
_PLAIN_SCALAR = re.compile(
    r"(?:\"([^\"\\\n]*)\"|'([^'\\\n]*)'|(-?\d+(?:\.\d+)?)|(true|false|null|True|False|None))(?=\s*[,:\]}])"
)
_OPENING = re.compile(r"[{\[]")
_PREFIX = re.compile(r"[uUbBrRfF]{0,2}(?=['\"])")
_STRING_BODY = {
    '"': re.compile(r'[^"\\]*(?:\\.[^"\\]*)*(?=")', re.DOTALL),
    "'": re.compile(r"[^'\\]*(?:\\.[^'\\]*)*(?=')", re.DOTALL),
}
# A quote that really closes a string is followed by a delimiter; another one is an apostrophe that nobody
# escaped.
_AFTER_STRING = re.compile(r"\s*(?:[,:\]})]|[uUbBrR]{0,2}['\"]|//|\Z)")
_LATE_END = {
    '"': re.compile(r'[^\n]{0,1000}?(?<!\\)"(?=\s*[,:\]}])'),
    "'": re.compile(r"[^\n]{0,1000}?(?<!\\)'(?=\s*[,:\]}])"),
}
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?=\s*(?:[,\]}):]|\Z))")
_BARE_KEY = re.compile(r"[^\W\d][\w$ .-]{0,60}?(?=\s*:)")
_BARE_VALUE = re.compile(
    r"(?:[^\W\d][\w.]{0,60}\([^()\n]{0,300}\)"  # datetime.date(2020, 1, 1)
    r"|[^\s,\[\]{}()'\":][^,\[\]{}()\n\"']{0,200}?)"
    r"(?=\s{0,40}(?:[,\]})]|\n|\Z))"
)
_CONSTANTS: dict[str, float | bool | None] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
    "undefined": None,
    "nan": None,
    "NaN": None,
    "Infinity": float("inf"),
    "inf": float("inf"),
    "-Infinity": float("-inf"),
    "-inf": float("-inf"),
}
_CLOSING = {"{": "}", "[": "]", "(": ")"}
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|\r\n|.)",
    re.DOTALL,
)
_SIMPLE_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
    "\n": "",
    "\r\n": "",
}


def find_structures(text: str, start: int = 0, end: int | None = None) -> Iterator[Mapping | Sequence]:
    """The outermost JSON or Python containers of ``text[start:end]`` that hold named values, in order.

    A container that breaks off ends at the place where it breaks, and the search goes on from there.
    """
    limit = len(text) if end is None else end
    parser = _Parser(text, limit)
    position = start
    while (opening := _OPENING.search(text, position, limit)) is not None:
        root, position = parser.parse(opening.start())
        if root is not None:
            yield root


def decode_escapes(source: str) -> str:
    """The string that a JSON or Python literal with this source stands for."""
    return _ESCAPE.sub(_decode_escape, source) if "\\" in source else source


def blank_escapes(source: str) -> str:
    """``source`` with every escape blanked at equal length (an escaped line break ends in a real one)."""
    return _ESCAPE.sub(_blank_escape, source) if "\\" in source else source


def find_escapes(source: str) -> list[tuple[int, int]]:
    """The ranges of all escapes in the source of a literal."""
    return [match.span() for match in _ESCAPE.finditer(source)]


def _decode_escape(match: re.Match[str]) -> str:
    body = match.group()[1:]
    if len(body) == 11:
        high, low = int(body[1:5], 16), int(body[7:11], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    if len(body) > 2:
        code = int(body[1:], 16)
        return chr(code) if code <= 0x10FFFF else match.group()
    return _SIMPLE_ESCAPES.get(body, body)


def _blank_escape(match: re.Match[str]) -> str:
    escape = match.group()
    if escape[1:] in ("n", "r"):
        return " \n"
    # An escaped quote keeps its meaning for the sentence splitter; the backslash in front of it has none.
    return " " + escape[1] if escape[1] in "'\"/" else " " * len(escape)


class _Parser:
    def __init__(self, text: str, limit: int) -> None:
        self.text = text
        self.limit = limit
        self.unclosed: dict[str, int] = {}  # quote -> position from which on no string in it is closed
        self.late_searches = 100  # each looks ahead up to 1000 characters; bounded so that time stays linear

    def parse(self, start: int) -> tuple[Mapping | Sequence | None, int]:
        """The container that opens at ``start``, or None if it names no values, and where to search on."""
        text, limit = self.text, self.limit
        stack: list[tuple[Mapping | Sequence, str]] = []
        root: Mapping | Sequence | None = None
        key: Scalar | None = None
        after_value = False
        position = start
        while True:
            position = self._skip_space(position)
            if position >= limit:
                break
            character = text[position]
            if stack and character == stack[-1][1] and key is None:
                container, _ = stack.pop()
                container.end = position = position + 1
                if not stack:
                    break
                after_value = True
                continue
            if after_value:
                if character == ",":
                    position += 1
                    after_value = False
                    continue
                joined = self._join_adjacent_string(stack[-1][0], position)
                if joined is None:
                    break
                position = joined
                continue
            parent = stack[-1][0] if stack else None
            if isinstance(parent, Mapping) and key is None:
                key = self._read_scalar(position, as_key=True)
                if key is None:
                    break
                position = self._skip_space(key.outer_end)
                following = text[position] if position < limit else ""
                if following == ":":
                    position += 1
                elif following in (",", "}") and not parent.members and key.quoted:
                    as_set = Sequence(parent.start, items=[key])
                    stack[-1] = (as_set, "}")
                    if root is parent:
                        root = as_set
                    elif len(stack) > 1:
                        _replace_last(stack[-2][0], as_set)
                    key, after_value = None, True
                else:
                    position = key.outer_start
                    break
                continue
            node: Node
            if character in _CLOSING:
                if len(stack) >= MAX_DEPTH:
                    break
                node = Mapping(position) if character == "{" else Sequence(position)
                position += 1
            else:
                scalar = self._read_scalar(position, as_key=False)
                if scalar is None:
                    break
                node = scalar
                position = scalar.outer_end
            if isinstance(parent, Mapping) and key is not None:
                parent.members.append(Member(key, node))
                key = None
            elif isinstance(parent, Sequence):
                parent.items.append(node)
            if isinstance(node, Scalar):
                after_value = True
            else:
                if root is None:
                    root = node
                stack.append((node, _CLOSING[character]))
                after_value = False
        for container, _ in stack:
            container.end = position
        position = max(position, start + 1)
        if root is None or not _names_values(root):
            return None, position
        return root, position

    def _skip_space(self, position: int) -> int:
        if position < self.limit and self.text[position] in _NO_SPACE:
            return position
        match = _SPACE.match(self.text, position, self.limit)
        return match.end() if match else position

    def _read_scalar(self, position: int, as_key: bool) -> Scalar | None:
        text, limit = self.text, self.limit
        plain = _PLAIN_SCALAR.match(text, position, limit)
        if plain is not None:
            end = plain.end()
            group = plain.lastindex
            source = plain.group(group or 0)
            if group == 3:
                return Scalar(position, end, position, end, float(source))
            if group == 4:
                return Scalar(position, end, position, end, _CONSTANTS[source])
            return Scalar(position + 1, end - 1, position, end, source, True)
        prefix = _PREFIX.match(text, position, limit)
        if prefix is not None:
            return self._read_string(position, prefix.end())
        match = _NUMBER.match(text, position, limit)
        if match is not None:
            try:
                return Scalar(position, match.end(), position, match.end(), float(match.group().replace("_", "")))
            except (ValueError, OverflowError):
                return None
        match = (_BARE_KEY if as_key else _BARE_VALUE).match(text, position, limit)
        if match is None:
            return None
        source = match.group()
        value = _CONSTANTS.get(source, source)
        return Scalar(position, match.end(), position, match.end(), value)

    def _read_string(self, position: int, quote_at: int) -> Scalar | None:
        text, limit = self.text, self.limit
        quote = text[quote_at]
        start = quote_at + 1
        raw = "r" in text[position:quote_at].lower()
        match = _STRING_BODY[quote].match(text, start, limit) if start < self.unclosed.get(quote, limit + 1) else None
        if match is None:
            # Cut off inside a string: it runs to the end of the text, or of its paragraph if
            # the text goes on.
            self.unclosed[quote] = min(start, self.unclosed.get(quote, start))
            end = text.find("\n\n", start, limit)
            end = limit if end < 0 else end
            return Scalar(start, end, position, end, decode_escapes(text[start:end]), True, raw)
        end = match.end()
        if not _AFTER_STRING.match(text, end + 1, limit):
            late = _LATE_END[quote].match(text, end + 1, limit) if self.late_searches > 0 else None
            self.late_searches -= 1
            if late is None:
                return None
            end = late.end() - 1
        source = text[start:end]
        return Scalar(start, end, position, end + 1, source if raw else decode_escapes(source), True, raw)

    def _join_adjacent_string(self, parent: Mapping | Sequence, position: int) -> int | None:
        """Python joins neighbouring string literals, and ``pprint`` breaks long texts into them."""
        last = parent.members[-1].value if isinstance(parent, Mapping) else parent.items[-1]
        if not isinstance(last, Scalar) or not last.quoted or not isinstance(last.value, str):
            return None
        prefix = _PREFIX.match(self.text, position, self.limit)
        if prefix is None:
            return None
        more = self._read_string(position, prefix.end())
        if more is None:
            return None
        last.value += str(more.value)
        last.end, last.outer_end = more.end, more.outer_end
        return more.outer_end


def _replace_last(parent: Mapping | Sequence, node: Node) -> None:
    if isinstance(parent, Mapping):
        parent.members[-1].value = node
    else:
        parent.items[-1] = node


def _names_values(root: Node) -> bool:
    """Whether a mapping in ``root`` has a quoted key or two keys: ``[1]`` in prose is a citation."""
    pending: list[Node] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, Mapping):
            if len(node.members) > 1 or any(member.key.quoted for member in node.members):
                return True
            pending.extend(member.value for member in node.members)
        elif isinstance(node, Sequence):
            pending.extend(node.items)
    return False
