"""Windows over lists of ``key: value`` lines: front matter, spec sheets, YAML, forms."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_guard.text.windows.records import MAX_RECORD, SplitSentences, is_text
from rag_guard.text.windows.structures import Scalar
from rag_guard.text.windows.tables import read_value
from rag_guard.text.windows.window import Field, Window, split_identifier

Range = tuple[int, int]

_LINE = re.compile(
    r"(?P<indent>[^\S\n]*)(?:[-*•+][^\S\n]+|\d{1,3}[.)][^\S\n]+)?"
    r"(?P<open>[*_]{0,2})(?P<quote>['\"]?)(?P<key>[^\s:：|*_'\"#>][^:：|\n]{0,48}?)(?P=quote)"
    r"(?:[*_]{0,2}[^\S\n]*[:：][*_]{0,2})(?P<space>[^\S\n]*)(?P<value>.*)"
)
_MAX_KEY_WORDS = 6


@dataclass(frozen=True)
class KeyedLine:
    """One line: ranges of the line's text, its key and its value, and its indentation in characters."""

    line: Range
    key: Range
    value: Range
    indent: int


def find_keyed_lines(text: str, lines: list[Range], first: int, stop: int) -> tuple[list[KeyedLine], int]:
    """The ``key: value`` lines from line ``first`` on, and the line after them.

    The list is empty unless there are two lines and they read like data rather than a dialogue or sentences.
    """
    found: list[KeyedLine] = []
    for number in range(first, stop):
        keyed = _read_line(text, lines[number])
        if keyed is None:
            break
        found.append(keyed)
    last = first + len(found)
    if len(found) < 2:
        return [], last
    keys = [text[item.key[0] : item.key[1]].casefold() for item in found]
    if len(set(keys)) * 2 < len(keys) + 1:
        return [], last  # the same few keys again and again are speakers of a dialogue
    values = [text[item.value[0] : item.value[1]] for item in found]
    sentences = sum(value.endswith((".", "!", "?", "。", "！", "？")) for value in values)
    return ([] if sentences * 2 > len(found) else found), last


def keyed_windows(
    text: str,
    keyed: list[KeyedLine],
    document: int,
    split_sentences: SplitSentences,
    path: tuple[str, ...] = (),
    context: tuple[Range, ...] = (),
) -> list[Window]:
    """Record windows over consecutive lines; values that are prose become sentences with a path."""
    windows: list[Window] = []
    run: list[Field] = []
    run_range: Range | None = None
    parents: list[tuple[int, str, Range]] = []  # indentation, words and range of the keys that have no value

    def flush() -> None:
        nonlocal run, run_range
        if run_range is not None:
            start, end = run_range
            windows.append(Window(document, start, end, "record", path, tuple(run), context))
        run, run_range = [], None

    for item in keyed:
        while parents and item.indent <= parents[-1][0]:
            parents.pop()
        name = split_identifier(text[item.key[0] : item.key[1]])
        source = text[item.value[0] : item.value[1]]
        if not source:
            parents.append((item.indent, name, item.key))
        scalar = Scalar(*item.value, *item.value, source)
        if source and is_text(scalar):
            flush()
            above = tuple(part for _, part, _ in parents)
            for start, end in split_sentences(source):
                windows.append(
                    Window(
                        document,
                        item.value[0] + start,
                        item.value[0] + end,
                        "prose",
                        (*path, *above, name),
                        (),
                        (*context, *(key for _, _, key in parents), item.key),
                    )
                )
            continue
        if run_range is not None and item.line[1] - run_range[0] > MAX_RECORD:
            flush()
        run_range = item.line if run_range is None else (run_range[0], item.line[1])
        if source:
            full = (*(part for _, part, _ in parents), name)
            run.append(Field(name, full, *item.value, *item.key, read_value(source)))
    flush()
    return windows


def _read_line(text: str, line: Range) -> KeyedLine | None:
    match = _LINE.match(text, *line)
    if match is None:
        return None
    key = text[match.start("key") : match.end("key")]
    value = match.group("value")
    if not any(map(str.isalpha, key)) or len(key.split()) > _MAX_KEY_WORDS:
        return None
    if not value.strip():
        value_range = (match.end(), match.end())
    else:
        # "10:30" and "https://" are no key and value: the colon is followed by a space, or is a
        # full-width one.
        if (
            not match.group("space")
            and "：" not in text[match.end("key") : match.start("value")]
            and (match.group("open") == "")
        ):
            return None
        start, end = match.span("value")
        while end > start and text[end - 1].isspace():
            end -= 1
        if end - start >= 2 and text[start] == text[end - 1] and text[start] in "'\"`":
            start, end = start + 1, end - 1
        value_range = (start, end)
    start, end = line
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return KeyedLine((start, end), match.span("key"), value_range, len(match.group("indent")))
