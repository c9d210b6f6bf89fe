"""Cut a document into the windows that serve as evidence, whatever mixture of formats it is."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from rag_guard.text.sentences import find_sentences
from rag_guard.text.windows.keyed_lines import find_keyed_lines, keyed_windows
from rag_guard.text.windows.records import record_windows
from rag_guard.text.windows.structures import Mapping, Sequence, find_structures
from rag_guard.text.windows.tables import find_table, table_windows
from rag_guard.text.windows.window import Window

Range = tuple[int, int]

_LINE_END = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^\S\n]*([^`\n]*)\Z")
_HEADING = re.compile(r" {0,3}(#{1,6})[^\S\n]+(.*?)(?:[^\S\n]+#+)?[^\S\n]*\Z")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[^\S\n]*\Z")
_DATA_FENCES = frozenset(("json", "jsonl", "ndjson", "json5", "jsonc", "yaml", "yml", "csv", "tsv", "markdown", "md"))
_WORD_CHARACTER = re.compile(r"[^\W_]")
_EMPHASIS = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)")
_INLINE_STRUCTURE = 160
_CODE_LINES = 40
_MARKER_LENGTH = 12


def find_windows(text: str, document: int, language: str | None = None) -> list[Window]:
    """All windows of one document, in order of their start.

    Prose gives one window per sentence. A table (Markdown, CSV, TSV) gives one per row with a field per
    cell. JSON, JSON Lines, Python literals and ``key: value`` lines give records with a field per value;
    long texts inside them give sentences that keep their key path. Code blocks give one window per
    paragraph. What cannot be read as one of these is prose. Every letter and digit is in some window or in
    the context of one. Never raises; time is linear.

    Args:
        text: the document.
        document: its index, copied into the windows.
        language: ISO 639-1 code for the sentence splitter, or None.
    """
    return _Reader(text, document, language).read()


class _Reader:
    def __init__(self, text: str, document: int, language: str | None) -> None:
        self.text = text
        self.document = document
        self.language = language
        self.lines = _find_lines(text)
        self.line_starts = [start for start, _ in self.lines]
        self.windows: list[Window] = []
        self.headings: list[tuple[int, str, Range]] = []
        self.fence_lines: set[int] = set()
        self.escapes: list[Range] = []  # of texts in literals: "\\n" has a letter, but says nothing

    def read(self) -> list[Window]:
        position = 0
        for start, end, structure in self.find_blocks():
            self.read_plain(position, start)
            if structure is None:
                self.read_code(start, end)
            else:
                windows, escapes = record_windows(
                    self.text, structure, self.document, self.split_sentences, self.path, self.context
                )
                self.windows.extend(windows)
                self.escapes.extend(escapes)
            position = end
        self.read_plain(position, len(self.text))
        self.windows.sort(key=lambda window: window.start)
        return self.cover()

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(title for _, title, _ in self.headings)

    @property
    def context(self) -> tuple[Range, ...]:
        return tuple(place for _, _, place in self.headings)

    def split_sentences(self, text: str) -> list[Range]:
        return find_sentences(text, self.language)

    def find_blocks(self) -> Iterator[tuple[int, int, Mapping | Sequence | None]]:
        """Code blocks (None) and structures, in order."""
        position = 0
        for start, end in self.find_code():
            yield from self.find_structures(position, start)
            yield start, end, None
            position = end
        yield from self.find_structures(position, len(self.text))

    def find_code(self) -> Iterator[Range]:
        """Contents of fenced blocks that hold code and not data; notes all fence lines."""
        opened: tuple[int, str, str] | None = None
        for number, (start, end) in enumerate(self.lines):
            match = _FENCE.match(self.text, start, end)
            if match is None:
                continue
            marker, info = match.group(1), match.group(2).strip()
            if opened is None:
                opened = (number, marker, info)
                self.fence_lines.add(number)
            elif marker.startswith(opened[1]) and not info:
                self.fence_lines.add(number)
                first, last = opened[0] + 1, number
                if first < last and self.is_code(opened[2], first, last):
                    yield self.lines[first][0], self.lines[last - 1][1]
                opened = None

    def is_code(self, info: str, first: int, last: int) -> bool:
        language = info.split()[0].lower() if info else ""
        content = self.text[self.lines[first][0] : self.lines[last - 1][1]].lstrip()
        if language in ("python", "py", "javascript", "js"):
            return not content.startswith(("{", "["))
        if language in ("", "text", "txt"):
            return not content.startswith(("{", "[", "|")) and not _reads_as_table(self.text, self.lines, first, last)
        return language not in _DATA_FENCES

    def find_structures(self, start: int, end: int) -> Iterator[tuple[int, int, Mapping | Sequence]]:
        for root in find_structures(self.text, start, end):
            if not self.is_inline(root):
                yield root.start, root.end, root

    def is_inline(self, root: Mapping | Sequence) -> bool:
        """Whether a structure is part of a sentence or of a table cell rather than data that stands alone."""
        line_start = self.text.rfind("\n", max(0, root.start - 1000), root.start) + 1
        before = self.text[max(line_start, root.start - 1000) : root.start].strip()
        if before.startswith("|"):
            return True
        if root.end - root.start > _INLINE_STRUCTURE:
            return False
        if self.text[root.end - 1] not in "}])":
            return False  # it broke off, and what follows is the rest of it
        after = self.text[root.end : root.end + 200].split("\n", 1)[0].strip(" \t\r,;")
        return bool(after) or bool(before and not before.endswith((":", "=", ",", ">", "-", "*")))

    def read_plain(self, start: int, end: int) -> None:
        """Read ``text[start:end]``, which holds neither structures nor code blocks."""
        if not self.text[start:end].strip():
            return
        first = self.line_at(start)
        stop = max(first + 1, bisect_left(self.line_starts, end))
        lines = self.lines[first:stop]
        lines[0] = (max(lines[0][0], start), lines[0][1])
        lines[-1] = (lines[-1][0], min(lines[-1][1], end))
        self.read_lines(lines, first)

    def read_lines(self, lines: list[Range], first: int) -> None:
        """Read consecutive lines, of which the first is line number ``first`` of the document."""
        text = self.text
        stop = len(lines)
        prose_start: int | None = None
        path, context = self.path, self.context
        number = 0
        keyed_from = 0  # lines before this one were tried as keyed lines
        while number < stop:
            start, end = lines[number]
            next_number = number + 1
            found: list[Window] | None = None
            if first + number in self.fence_lines:
                found = []
            elif heading := _HEADING.match(text, start, end):
                found = self.add_heading(len(heading.group(1)), heading.span(2))
            elif (
                number + 1 < stop
                and (underline := _UNDERLINE.match(text, *lines[number + 1]))
                and text[start:end].strip()
                and (number == 0 or not text[slice(*lines[number - 1])].strip())
                and "|" not in text[start:end]
            ):
                found = self.add_heading(1 if underline.group(1)[0] == "=" else 2, (start, end))
                next_number = number + 2
            elif table := find_table(text, lines, number, stop):
                found = table_windows(text, lines, table, self.document, self.path, self.context)
                next_number = max(table.body.stop, number + 1)
            elif number >= keyed_from:
                keyed, keyed_from = find_keyed_lines(text, lines, number, stop)
                keyed_from = max(keyed_from, number + 1)
                if keyed:
                    found = keyed_windows(text, keyed, self.document, self.split_sentences, self.path, self.context)
                    next_number = keyed_from
            if found is None:
                prose_start = start if prose_start is None else prose_start
            else:
                if prose_start is not None:
                    self.add_prose(prose_start, start, path, context)
                    prose_start = None
                self.windows.extend(found)
                path, context = self.path, self.context
            number = next_number
        if prose_start is not None:
            self.add_prose(prose_start, lines[stop - 1][1], path, context)

    def add_heading(self, level: int, title: Range) -> list[Window]:
        """A heading is a window of its own, and context of everything below it."""
        start, end = title
        start, end = _trim(self.text, start, end)
        while end - start > 1 and self.text[start] == self.text[end - 1] and self.text[start] in "*_`":
            start, end = start + 1, end - 1
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        found = []
        if _WORD_CHARACTER.search(self.text, start, end):
            found.append(Window(self.document, start, end, "prose", self.path, (), self.context))
            self.headings.append((level, _EMPHASIS.sub("", self.text[start:end]), (start, end)))
        return found

    def add_prose(self, start: int, end: int, path: tuple[str, ...], context: tuple[Range, ...]) -> None:
        self.windows.extend(
            Window(self.document, start + first, start + last, "prose", path, (), context)
            for first, last in self.split_sentences(self.text[start:end])
        )

    def read_code(self, start: int, end: int) -> None:
        """One window per paragraph of a code block; long paragraphs are cut."""
        first = bisect_left(self.line_starts, start)
        stop = bisect_left(self.line_starts, end)
        chunk: list[Range] = []
        for line in [*self.lines[first:stop], (end, end)]:
            blank = not self.text[line[0] : line[1]].strip()
            if chunk and (blank or len(chunk) == _CODE_LINES):
                trimmed = _trim(self.text, chunk[0][0], chunk[-1][1])
                self.windows.append(Window(self.document, *trimmed, "code", self.path, (), self.context))
                chunk = []
            if not blank:
                chunk.append(line)

    def cover(self) -> list[Window]:
        """Put what no window holds (list numbers, link targets) in a window's context or its own window."""
        text = self.text
        self.windows = [window for window in self.windows if _WORD_CHARACTER.search(text, window.start, window.end)]
        ranges = sorted(
            {(window.start, window.end) for window in self.windows}
            | {place for window in self.windows for place in window.context}
            | set(self.escapes)
        )
        gaps: list[Range] = []
        position = 0
        for start, end in [*ranges, (len(text), len(text))]:
            if position < start:
                gaps.append((position, start))
            position = max(position, end)
        added: dict[int, list[Range]] = {}
        extra: list[Window] = []
        starts = [window.start for window in self.windows]
        for gap_start, gap_end in gaps:
            for start, end in self.pieces(gap_start, gap_end):
                following = bisect_left(starts, end)
                joined = self.owner(start, end, following)
                if joined is None:
                    extra.append(Window(self.document, start, end, "prose", self.path_at(following)))
                else:
                    added.setdefault(joined, []).append((start, end))
        for index, places in added.items():
            window = self.windows[index]
            self.windows[index] = replace(window, context=tuple(sorted({*window.context, *places})))
        if extra:
            self.windows = sorted([*self.windows, *extra], key=lambda window: window.start)
        return self.windows

    def pieces(self, start: int, end: int) -> Iterator[Range]:
        """The parts of a gap, one per line, that have letters or digits."""
        text = self.text
        while (first := _WORD_CHARACTER.search(text, start, end)) is not None:
            line_end = _LINE_END.search(text, first.start(), end)
            stop = line_end.start() if line_end else end
            yield _trim(text, first.start(), stop)
            start = stop

    def owner(self, start: int, end: int, following: int) -> int | None:
        """The window on the same line that a short piece belongs to: the one after it, else before it."""
        text = self.text
        if following < len(self.windows):
            after = self.windows[following].start
            if self.line_at(start) in self.fence_lines:
                return following
            if after - end <= _MARKER_LENGTH and "\n" not in text[end:after]:
                return following
        if following > 0 and (end - start <= _MARKER_LENGTH or not text[start:end].strip().count(" ")):
            before = self.windows[following - 1].end
            if before <= start and start - before <= _MARKER_LENGTH and "\n" not in text[before:start]:
                return following - 1
        return None

    def line_at(self, position: int) -> int:
        return bisect_left(self.line_starts, position + 1) - 1

    def path_at(self, following: int) -> tuple[str, ...]:
        return self.windows[following - 1].path if following > 0 else ()


def _find_lines(text: str) -> list[Range]:
    lines = []
    position = 0
    for ending in _LINE_END.finditer(text):
        lines.append((position, ending.start()))
        position = ending.end()
    lines.append((position, len(text)))
    return lines


def _trim(text: str, start: int, end: int) -> Range:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _reads_as_table(text: str, lines: list[Range], first: int, last: int) -> bool:
    return find_table(text, lines, first, last) is not None
