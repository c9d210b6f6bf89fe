"""Cut a text at the borders of ranges that may touch or overlap, so that each piece can be marked alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

Key = TypeVar("Key")

_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LINE_END = re.compile("\r\n?")


@dataclass(frozen=True)
class Range(Generic[Key]):
    """``text[start:end]`` and what it stands for."""

    start: int
    end: int
    key: Key


@dataclass(frozen=True)
class Piece(Generic[Key]):
    """A run of text that the same ranges cover.

    Attributes:
        text: the piece, fit to be shown (see :func:`visible`).
        keys: of all ranges that cover the piece, in the order they were given.
        opens / closes: the keys of the ranges that start or end with this piece.
    """

    text: str
    keys: tuple[Key, ...]
    opens: tuple[Key, ...]
    closes: tuple[Key, ...]


def cut(text: str, ranges: Sequence[Range[Key]]) -> list[Piece[Key]]:
    """Cut ``text`` into pieces which, joined, are ``visible(text)``.

    Ranges that are empty or reach outside the text are dropped.
    """
    size = len(text)
    kept = [item for item in ranges if 0 <= item.start < item.end <= size]
    borders = sorted({0, size, *(item.start for item in kept), *(item.end for item in kept)})
    waiting = sorted(range(len(kept)), key=lambda number: kept[number].start, reverse=True)
    active: list[int] = []
    pieces = []
    for start, end in pairwise(borders):
        while waiting and kept[waiting[-1]].start == start:
            active.append(waiting.pop())
        active.sort()
        # A border between CR and LF must not make one line end into two.
        stop = end - 1 if text[end - 1] == "\r" and text[end : end + 1] == "\n" else end
        pieces.append(
            Piece(
                text=visible(text[start:stop]),
                keys=tuple(kept[number].key for number in active),
                opens=tuple(kept[number].key for number in active if kept[number].start == start),
                closes=tuple(kept[number].key for number in active if kept[number].end == end),
            )
        )
        active = [number for number in active if kept[number].end > end]
    return pieces


def visible(text: str) -> str:
    """``text`` as it may be sent to a screen: line ends as LF, control characters as pictures.

    Control characters would drive a terminal, and lone surrogates cannot be encoded, so they are replaced.
    """
    return _UNSHOWABLE.sub(_picture, _LINE_END.sub("\n", text))


def one_line(text: str, limit: int) -> str:
    """``visible(text)`` on one line, cut after at most ``limit`` characters, at a word where there is one."""
    line = " ".join(visible(text[: 4 * limit]).split())
    if len(line) <= limit and len(text) <= 4 * limit:
        return line
    head = line[: limit - 1]
    at_word = head if line[limit - 1 : limit] == " " else head.rsplit(" ", 1)[0]
    return (at_word if len(at_word) > limit // 2 else head).rstrip() + "…"


def surroundings(text: str, start: int, end: int, reach: int = 60) -> tuple[str, str]:
    """What stands before and after ``text[start:end]`` on its lines, within ``reach``, fit to be shown."""
    before = visible(text[max(0, start - reach) : start]).rpartition("\n")[2]
    after = visible(text[end : end + reach]).partition("\n")[0]
    if len(before) == reach:
        before = "…" + (before.partition(" ")[2] or before)
    if len(after) == reach:
        after = (after.rpartition(" ")[0] or after) + "…"
    return before.lstrip(), after.rstrip()


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"
