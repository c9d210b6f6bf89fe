"""Markdown layout of a text with exact offsets: which ranges are text, and which are marks of the layout.

A line scanner rather than a CommonMark parser: answers of language models bend CommonMark (lists that start
at 2, lists right under a sentence, indented prose, bullets such as ``•``), parsers report lines and not
columns, and offsets into the untouched text are what every later stage needs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Literal, NamedTuple

import regex

BlockKind = Literal[
    "paragraph",
    "heading",
    "list_item",
    "table_header",
    "table_row",
    "table_rule",
    "code",
    "quote",
    "rule",
]


class Block(NamedTuple):
    """A piece of the layout; ``start`` and ``end`` cover its text without its marker (all of a rule)."""

    start: int
    end: int
    kind: BlockKind


class Layout(NamedTuple):
    """Everything one scan finds.

    Attributes:
        blocks: in order, not overlapping, none of them empty.
        markup: ranges that are marks and not text, in order, not overlapping.
        code: ranges of code, fenced or inline, without their backticks.
    """

    blocks: tuple[Block, ...]
    markup: tuple[tuple[int, int], ...]
    code: tuple[tuple[int, int], ...]


def find_blocks(text: str) -> list[Block]:
    """The blocks of ``text`` in order; a plain text is one paragraph per run of lines between blank lines."""
    return list(layout(text).blocks)


def find_markup(text: str) -> list[tuple[int, int]]:
    """Ranges that are Markdown marks and not text: emphasis, markers, pipes, fences, link targets, tags."""
    return list(layout(text).markup)


def find_cells(text: str, block: Block) -> list[tuple[int, int]]:
    """The trimmed ranges of the cells of a table row or header, empty cells left out."""
    if block.kind not in ("table_row", "table_header"):
        return []
    cells = []
    position = block.start
    for match in _PIPE.finditer(text, block.start, block.end):
        cells.append(_trim(text, position, match.start()))
        position = match.end()
    cells.append(_trim(text, position, block.end))
    return [(start, end) for start, end in cells if start < end]


def overlapping(ranges: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Those of ordered, disjoint ``ranges`` that share text with ``start:end``, found by bisection."""
    index = bisect_right(ranges, start, key=itemgetter(1))
    while index < len(ranges) and ranges[index][0] < end:
        yield ranges[index]
        index += 1


def mask_markup(text: str, start: int, end: int) -> str:
    """``text[start:end]`` with its Markdown marks blanked by spaces, so that offsets stay as they are."""
    pieces: list[str] = []
    position = start
    for mark_start, mark_end in overlapping(layout(text).markup, start, end):
        mark_start, mark_end = max(mark_start, position), min(mark_end, end)
        pieces += text[position:mark_start], " " * (mark_end - mark_start)
        position = mark_end
    pieces.append(text[position:end])
    return "".join(pieces)


# Anything that makes a text more than one plain paragraph.
_NOT_PLAIN = regex.compile(r"[*_`#|<>\[\]~\\\n\r\f\v\x1c-\x1e\x85\u2028\u2029]|\A\s*(?:[-+•‣◦▪●–]|\d{1,3}[.)])\s")
_LINE = regex.compile(r"[^\r\n\u2028\u2029]*(?:\r\n|[\r\n\u2028\u2029]|\Z)")
_FENCE = regex.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^`\r\n]*)")
_QUOTE = regex.compile(r"[ \t]*(?:>[ \t]?)+")
_HEADING = regex.compile(r"[ \t]{0,3}#{1,6}[ \t\u00a0]+")
_HEADING_END = regex.compile(r"[ \t]+#+[ \t]*\Z")
_SETEXT = regex.compile(r"[ \t]{0,3}(?:={2,}|-{2,})[ \t]*\Z")
_RULE = regex.compile(r"[ \t]{0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
_ITEM = regex.compile(
    r"[ \t\u00a0]*(?:[-+*•‣◦▪●–](?=[ \t\u00a0])|(?P<number>\(?\d{1,3}[.)])(?=[ \t\u00a0])"
    r"|[a-zA-Z]\)(?=[ \t\u00a0])|[①-⑳])[ \t\u00a0]*(?:\[[ xX]\][ \t\u00a0]+)?"
)
_ROW = regex.compile(r"[ \t]*\|.*\|[ \t]*\Z")
_TABLE_RULE = regex.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*\Z")
_PIPE = regex.compile(r"(?<!\\)\|")
_INLINE = regex.compile(
    r"""(?P<code>(?<!`)(`+)(?!`)(?P<codetext>.+?)(?<!`)\2(?!`))
    |(?P<image>!\[(?P<alt>[^\]\[]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+"[^"]*")?\))
    |(?P<link>\[(?P<label>(?:[^\]\[]|\[[^\]\[]*\])+)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+"[^"]*")?\))
    |(?P<tag></?[a-zA-Z][a-zA-Z0-9]*(?:\s[^<>]*)?/?>|<!--.*?-->)
    |(?P<autolink><(?:https?://|mailto:)[^<>\s]*>)
    |(?P<escape>\\(?=[*_`#|~\[\]<>]))
    |(?P<strong>\*{1,3}|_{1,3}|~~)""",
    regex.VERBOSE | regex.DOTALL,
)


@lru_cache(maxsize=64)
def layout(text: str) -> Layout:
    """Scan ``text`` once; results are kept for the texts seen last, since every text module asks for them."""
    if not _NOT_PLAIN.search(text):
        start, end = _trim(text, 0, len(text))
        return Layout((Block(start, end, "paragraph"),) if start < end else (), (), ())
    scanner = _Scanner(text)
    scanner.run()
    markup = scanner.markup
    code = scanner.code
    for block in scanner.blocks:
        if block.kind not in ("code", "rule", "table_rule"):
            _scan_inline(text, block.start, block.end, markup, code)
    return Layout(tuple(scanner.blocks), _merge(markup), tuple(sorted(code)))


class _Scanner:
    """Reads lines and groups them into blocks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks: list[Block] = []
        self.markup: list[tuple[int, int]] = []
        self.code: list[tuple[int, int]] = []
        # The open block that a continuation line may extend.
        self.open: tuple[int, int, BlockKind] | None = None

    def run(self) -> None:
        text = self.text
        lines = [(m.start(), m.start() + len(m.group().rstrip("\r\n\u2028\u2029"))) for m in _LINE.finditer(text)]
        index = 0
        while index < len(lines):
            start, end = lines[index]
            line = text[start:end]
            if not line.strip():
                self.close()
                index += 1
                continue
            fence = _FENCE.match(line)
            if fence:
                index = self.read_fence(lines, index, fence.group("fence"))
                continue
            if "|" in line and index + 1 < len(lines):
                following = text[lines[index + 1][0] : lines[index + 1][1]]
                if "|" in following and _TABLE_RULE.match(following):
                    index = self.read_table(lines, index)
                    continue
            self.read_line(start, end, line)
            index += 1
        self.close()

    def read_fence(self, lines: list[tuple[int, int]], index: int, fence: str) -> int:
        """Read a code block from its opening fence; an unclosed fence runs to the end."""
        self.close()
        self.markup.append(_trim(self.text, *lines[index]))
        first = index + 1
        index = first
        closing = regex.compile(rf"[ \t]*{regex.escape(fence[0])}{{{len(fence)},}}[ \t]*\Z")
        while index < len(lines) and not closing.match(self.text[lines[index][0] : lines[index][1]]):
            index += 1
        if first < index:
            start, end = _trim(self.text, lines[first][0], lines[index - 1][1])
            if start < end:
                self.blocks.append(Block(start, end, "code"))
                self.code.append((start, end))
        if index < len(lines):
            self.markup.append(_trim(self.text, *lines[index]))
        return index + 1

    def read_table(self, lines: list[tuple[int, int]], index: int) -> int:
        """Read a table from its header line; it ends at the first line without a pipe."""
        self.close()
        first = index
        while index < len(lines):
            start, end = lines[index]
            if index != first + 1 and not _PIPE.search(self.text, start, end):
                break
            if index == first + 1:
                start, end = _trim(self.text, start, end)
                self.blocks.append(Block(start, end, "table_rule"))
                self.markup.append((start, end))
            else:
                self.add_row(start, end, "table_header" if index == first else "table_row")
            index += 1
        return index

    def add_row(self, start: int, end: int, kind: BlockKind) -> None:
        self.markup.extend(match.span() for match in _PIPE.finditer(self.text, start, end))
        start, end = _trim(self.text, start, end, extra="|")
        if start < end:
            self.blocks.append(Block(start, end, kind))

    def read_line(self, start: int, end: int, line: str) -> None:
        # Rows of a table whose header is missing or still to come.
        if _ROW.match(line):
            self.close()
            if _TABLE_RULE.match(line):
                start, end = _trim(self.text, start, end)
                self.blocks.append(Block(start, end, "table_rule"))
                self.markup.append((start, end))
            else:
                self.add_row(start, end, "table_row")
            return
        quote = _QUOTE.match(line)
        if quote:
            self.markup.append((start, start + quote.end()))
            self.extend(start + quote.end(), end, "quote")
            return
        if self.open is not None and self.open[2] == "paragraph" and _SETEXT.match(line):
            first, last, _ = self.open
            if "\n" not in self.text[first:last]:
                self.open = (first, last, "heading")
                self.close()
                self.markup.append(_trim(self.text, start, end))
                return
        if _RULE.match(line):
            self.close()
            start, end = _trim(self.text, start, end)
            self.blocks.append(Block(start, end, "rule"))
            self.markup.append((start, end))
            return
        heading = _HEADING.match(line)
        if heading:
            self.close()
            closing = _HEADING_END.search(line, heading.end())
            if closing:
                self.markup.append((start + closing.start(), end))
                end = start + closing.start()
            self.markup.append((start, start + heading.end()))
            self.extend(start + heading.end(), end, "heading")
            self.close()
            return
        item = _ITEM.match(line)
        if item and item.end() < len(line) and self.is_item(item, start):
            self.close()
            self.markup.append((start, start + item.end()))
            self.extend(start + item.end(), end, "list_item")
            return
        self.extend(start, end, "paragraph")

    def is_item(self, item: regex.Match[str], start: int) -> bool:
        """Whether a line's number counts it; the first line of a text may open with a date ("1. Mai 2020").

        Later lines are believed; the first one only if a line with the next number follows.
        """
        number = item.group("number")
        if number is None or number.endswith(")") or self.text[:start].strip():
            return True
        following = int(number.strip("(.)")) + 1
        return bool(regex.search(rf"^[ \t]*{following}\.[ \t]", self.text, regex.MULTILINE, pos=start))

    def extend(self, start: int, end: int, kind: BlockKind) -> None:
        """Add a line to the open block if it continues it, else open a new one."""
        start, end = _trim(self.text, start, end)
        if start >= end:
            if kind == "quote":
                self.close()
            return
        # A plain line under a list item continues the item, as in Markdown.
        if self.open is not None and (self.open[2] == kind != "list_item" or kind == "paragraph"):
            self.open = (self.open[0], end, self.open[2])
            return
        self.close()
        self.open = (start, end, kind)

    def close(self) -> None:
        if self.open is not None:
            self.blocks.append(Block(*self.open))
        self.open = None


def _scan_inline(text: str, start: int, end: int, markup: list[tuple[int, int]], code: list[tuple[int, int]]) -> None:
    """Find the inline marks of one block."""
    openers: list[tuple[str, int, int]] = []
    position = start
    while match := _INLINE.search(text, position, end):
        kind = match.lastgroup
        position = match.end()
        first, last = match.span()
        if match.group("code") is not None:
            inner = match.span("codetext")
            markup += (first, inner[0]), (inner[1], last)
            code.append(inner)
        elif match.group("image") is not None:
            inner = match.span("alt")
            markup += (first, inner[0]), (inner[1], last)
            position = inner[0] if inner[0] < inner[1] else last
        elif match.group("link") is not None:
            inner = match.span("label")
            markup += (first, inner[0]), (inner[1], last)
            _scan_inline(text, inner[0], inner[1], markup, code)
        elif kind in ("tag", "autolink", "escape"):
            markup.append((first, last))
            if kind == "escape":
                position = last + 1
        else:
            _pair_emphasis(text, match.group(), first, last, start, end, openers, markup)


def _pair_emphasis(
    text: str,
    mark: str,
    first: int,
    last: int,
    start: int,
    end: int,
    openers: list[tuple[str, int, int]],
    markup: list[tuple[int, int]],
) -> None:
    before = text[first - 1] if first > start else " "
    after = text[last] if last < end else " "
    opens = not after.isspace()
    closes = not before.isspace()
    # "snake_case" and "2*3" are text; "**" may stand inside a word, as Chinese has no spaces around it.
    if mark[0] == "_" or len(mark) == 1:
        opens = opens and not before.isalnum()
        closes = closes and not after.isalnum()
    if closes:
        for index in range(len(openers) - 1, -1, -1):
            if openers[index][0] == mark:
                markup += openers[index][1:], (first, last)
                del openers[index:]
                return
    if opens:
        openers.append((mark, first, last))


def _trim(text: str, start: int, end: int, extra: str = "") -> tuple[int, int]:
    while start < end and (text[start].isspace() or text[start] in extra):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in extra):
        end -= 1
    return start, end


def _merge(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if start >= end:
            continue
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
