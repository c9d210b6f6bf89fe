"""Windows over tables in plain text: Markdown with or without outer pipes, CSV-like blocks with a header."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rag_guard.text.windows.window import Field, FieldValue, Window, split_identifier

Range = tuple[int, int]

MAX_COLUMNS = 200

_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:[|+]\s*:?-*:?\s*)*\Z")
_PIPE = re.compile(r"(?<!\\)\|")
_QUOTED_CELL = {
    delimiter: re.compile(rf'\s*(?:"((?:[^"]|"")*)"[^\S\n]*(?={re.escape(delimiter)}|\Z)|([^{re.escape(delimiter)}]*))')
    for delimiter in ",;\t"
}
_MARKUP = " \t\u00a0*_`~"
_NUMBER = re.compile(r"[-+−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?:0|[1-9]\d*)(?:\.\d+)?|0?\.\d+)\Z")
_NULLS = frozenset({"", "-", "–", "—", "n/a", "na", "null", "none", "nan", "?", "..."})
_TRUTH: dict[str, bool] = {
    "true": True,
    "false": False,
    **dict.fromkeys("✓✔✅☑", True),
    **dict.fromkeys("✗✘✕❌", False),
}
_ENDS_SENTENCE = re.compile(r"[.!?。！？।]\s*\Z")


@dataclass(frozen=True)
class Table:
    """A table found in a list of lines: line numbers of its header (or None), rule and body."""

    header: int | None
    rule: int | None
    body: range
    cells: Callable[[str, Range], list[Range]]


def find_table(text: str, lines: list[Range], first: int, stop: int) -> Table | None:
    """The table that starts at line ``first`` of ``lines`` and ends before line ``stop``, or None."""
    start, end = lines[first]
    if _PIPE.search(text, start, end):
        return _find_pipe_table(text, lines, first, stop)
    for delimiter in "\t;,":
        if delimiter in text[start:end]:
            table = _find_delimited(text, lines, first, stop, delimiter)
            if table is not None:
                return table
    return None


def table_windows(
    text: str,
    lines: list[Range],
    table: Table,
    document: int,
    path: tuple[str, ...] = (),
    context: tuple[Range, ...] = (),
) -> list[Window]:
    """One window per row, its fields named by the header row, which is their context."""
    header: list[Range] = []
    if table.header is not None:
        header = table.cells(text, lines[table.header])
        trimmed = _trim(text, lines[table.header])
        if trimmed[0] < trimmed[1]:
            context = (*context, trimmed)
    names = [split_identifier(text[start:end]) for start, end in header]
    windows = []
    for number in table.body:
        start, end = _trim(text, lines[number])
        if not any(map(str.isalnum, text[start:end])):
            continue
        fields = []
        for cell, name, place in zip(table.cells(text, lines[number]), names, header, strict=False):
            if cell[0] < cell[1]:
                value = read_value(text[cell[0] : cell[1]])
                fields.append(Field(name, (name,), cell[0], cell[1], place[0], place[1], value))
        windows.append(Window(document, start, end, "row", path, tuple(fields), context))
    return windows


def read_value(source: str) -> FieldValue:
    """A cell as a value: a plain number as float, check marks and true/false as bool, dashes and n/a as None.

    Numbers that read differently in different languages (``1,5``, ``12.000``) and padded ones (``007``) stay
    text.
    """
    folded = source.strip().casefold()
    if folded in _NULLS:
        return None
    if folded in _TRUTH:
        return _TRUTH[folded]
    if len(folded) < 40 and folded.isascii() and _NUMBER.match(folded):
        return float(folded.replace(",", ""))
    return source


def _trim(text: str, line: Range) -> Range:
    start, end = line
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _trim_cell(text: str, start: int, end: int) -> Range:
    while start < end and text[start] in _MARKUP:
        start += 1
    while end > start and text[end - 1] in _MARKUP:
        end -= 1
    return start, end


def _pipe_cells(text: str, line: Range) -> list[Range]:
    start, end = _trim(text, line)
    if start < end and text[start] == "|":
        start += 1
    if end > start and text[end - 1] == "|" and text[end - 2] != "\\":
        end -= 1
    cells = []
    for match in _PIPE.finditer(text, start, end):
        cells.append(_trim_cell(text, start, match.start()))
        start = match.end()
        if len(cells) > MAX_COLUMNS:
            break
    cells.append(_trim_cell(text, start, end))
    return cells


def _find_pipe_table(text: str, lines: list[Range], first: int, stop: int) -> Table | None:
    if first + 1 < stop and _is_rule(text, lines[first + 1]):
        last = first + 2
        while last < stop and _PIPE.search(text, *lines[last]):
            last += 1
        return Table(first, first + 1, range(first + 2, last), _pipe_cells)
    # Rows without a rule: a table only if their cells line up.
    columns = len(_pipe_cells(text, lines[first]))
    if columns < 2 or _is_rule(text, lines[first]):
        return None
    last = first + 1
    while last < stop and _PIPE.search(text, *lines[last]) and len(_pipe_cells(text, lines[last])) == columns:
        last += 1
    if last - first < 2:
        return None
    header = first if _looks_like_header(text, lines, first, last, _pipe_cells) else None
    return Table(header, None, range(first if header is None else first + 1, last), _pipe_cells)


def _is_rule(text: str, line: Range) -> bool:
    start, end = line
    return end - start < 5000 and "-" in text[start:end] and _RULE.match(text, start, end) is not None


def _find_delimited(text: str, lines: list[Range], first: int, stop: int, delimiter: str) -> Table | None:
    cells = _DELIMITED_CELLS[delimiter]
    start, end = lines[first]
    header = cells(text, lines[first])
    columns = len(header)
    if columns < 2 or columns > MAX_COLUMNS or _ENDS_SENTENCE.search(text[max(start, end - 40) : end]):
        return None
    needed = 2 if delimiter == "\t" or columns > 2 else 3
    last = first + 1
    while last < stop and len(cells(text, lines[last])) == columns:
        start, end = lines[last]
        if delimiter != "\t" and _ENDS_SENTENCE.search(text[max(start, end - 40) : end]):
            break
        last += 1
        if last - first == needed and not _looks_like_header(text, lines, first, last, cells):
            return None
    return Table(first, None, range(first + 1, last), cells) if last - first >= needed else None


def _looks_like_header(
    text: str, lines: list[Range], first: int, last: int, cells: Callable[[str, Range], list[Range]]
) -> bool:
    """Short, distinct, wordy cells above at least one column of short values that differ from it in kind."""
    header = [text[start:end] for start, end in cells(text, lines[first])]
    if any(len(name) > 40 or not any(map(str.isalpha, name)) for name in header):
        return False
    if len({name.casefold() for name in header}) < len(header):
        return False
    body = [
        [text[start:end] for start, end in cells(text, lines[number])]
        for number in range(first + 1, min(last, first + 6))
    ]
    return any(
        all(len(row) > column and any(map(str.isdigit, row[column])) and len(row[column]) <= 40 for row in body)
        and not any(map(str.isdigit, header[column]))
        for column in range(len(header))
    ) or (all(len(cell) <= 30 for row in body for cell in row) and _is_identifier_like(header))


def _is_identifier_like(header: list[str]) -> bool:
    """Whether the cells look like the column names of a program."""
    if any(" " in name for name in header):
        return False
    return all(name == name.lower() or "_" in name for name in header) or all(name.isupper() for name in header)


def _make_delimited_cells(delimiter: str) -> Callable[[str, Range], list[Range]]:
    pattern = _QUOTED_CELL[delimiter]

    def cells(text: str, line: Range) -> list[Range]:
        position, end = line
        found: list[Range] = []
        while position <= end and len(found) <= MAX_COLUMNS:
            match = pattern.match(text, position, end)
            if match is None:
                break
            group = 1 if match.group(1) is not None else 2
            found.append(_trim_cell(text, *match.span(group)))
            position = match.end() + 1
        return found

    return cells


_DELIMITED_CELLS = {delimiter: _make_delimited_cells(delimiter) for delimiter in _QUOTED_CELL}
