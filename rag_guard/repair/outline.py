"""What a repair needs to know of an answer's layout: blocks, sentences, marks and brackets, with offsets."""

from __future__ import annotations

from functools import cached_property

from rag_guard.schema import Report
from rag_guard.text.analysis import Analysis
from rag_guard.text.blocks import Block, layout, overlapping
from rag_guard.text.corpus_cache import corpus_for
from rag_guard.text.sentences import block_sentences

_PAIRS = {"(": ")", "[": "]", "（": "）", "【": "】"}
_QUOTES = '"“”„«»'


class Outline:
    """The layout of one answer.

    Attributes:
        answer: the text.
        analysis: its analysis against the report's documents.
    """

    def __init__(self, report: Report) -> None:
        question = report.question if report.question and report.question.strip() else None
        self.answer = report.answer
        self.analysis = Analysis(report.answer, report.documents, question, corpus_for(report.documents))
        self.language = report.language or self.analysis.language

    @cached_property
    def blocks(self) -> list[Block]:
        """All blocks in order, rules of tables included."""
        return list(layout(self.answer).blocks)

    @cached_property
    def sentences(self) -> list[list[tuple[int, int]]]:
        """Per block, its sentences; a table row and a code block are one each."""
        return [block_sentences(self.answer, block, self.language) for block in self.blocks]

    def block_of(self, start: int) -> int | None:
        """Index of the block around an offset."""
        return next((i for i, block in enumerate(self.blocks) if block.start <= start < block.end), None)

    def sentence_of(self, start: int, end: int) -> tuple[int, int] | None:
        """The sentence around ``start``, stretched to the end of the one that holds ``end``."""
        index = self.block_of(start)
        if index is None:
            return None
        touched = [s for s in self.sentences[index] if s[0] < end and start < s[1]]
        return (touched[0][0], touched[-1][1]) if touched else None

    def in_code(self, start: int, end: int) -> tuple[int, int] | None:
        """The code, fenced or inline, around a range."""
        return next((c for c in layout(self.answer).code if c[0] <= start and end <= c[1]), None)

    def marks(self, start: int, end: int) -> list[tuple[int, int]]:
        """The Markdown marks inside a range."""
        return [m for m in overlapping(layout(self.answer).markup, start, end) if start <= m[0] and m[1] <= end]

    def is_mark(self, start: int, end: int) -> bool:
        """Whether exactly this range is a Markdown mark."""
        return (start, end) in self._marks

    @cached_property
    def _marks(self) -> frozenset[tuple[int, int]]:
        return frozenset(layout(self.answer).markup)

    def link_around(self, start: int, end: int) -> list[tuple[int, int]]:
        """The marks of the link whose target holds a range: its opening bracket and its target; empty if none does."""
        opened: list[tuple[int, int]] = []
        for mark in layout(self.answer).markup:
            text = self.answer[mark[0] : mark[1]]
            if text in ("[", "!["):
                opened.append(mark)
            elif text.startswith("]"):
                opening = opened.pop() if opened else None
                if mark[0] <= start and end <= mark[1]:
                    return [mark] if opening is None else [opening, mark]
            elif mark[0] <= start and end <= mark[1]:
                return [mark]
        return []

    def is_balanced(self, start: int, end: int) -> bool:
        """Whether a range holds both or neither of every pair of brackets and quotation marks."""
        text = self.answer[start:end]
        return all(text.count(a) == text.count(b) for a, b in _PAIRS.items()) and not sum(map(text.count, _QUOTES)) % 2

    def without_splitting_marks(self, start: int, end: int) -> tuple[int, int, str] | None:
        """A cut that leaves the emphasis around it whole: its range and the marks to keep.

        None if it would split a link or code.

        Marks right outside that the cut would leave empty go with it.
        """
        answer = self.answer
        for code_start, code_end in overlapping(layout(answer).code, start, end):
            if not (start < code_start and code_end < end) and not (code_start <= start and end <= code_end):
                return None
        while True:
            lone = self._lone_marks(start, end)
            if any(not _is_emphasis(answer[a:b]) for a, b in lone):
                return None
            before = self._mark_ending_at(start)
            after = self._mark_starting_at(end)
            if before and after and answer[before[0] : before[1]] == answer[after[0] : after[1]] and not lone:
                start, end = before[0], after[1]
            elif len(lone) == 1 and before and answer[before[0] : before[1]] == answer[lone[0][0] : lone[0][1]]:
                start = before[0]
            elif len(lone) == 1 and after and answer[after[0] : after[1]] == answer[lone[0][0] : lone[0][1]]:
                end = after[1]
            else:
                return start, end, "".join(answer[a:b] for a, b in lone)

    def _lone_marks(self, start: int, end: int) -> list[tuple[int, int]]:
        opened: list[tuple[int, int]] = []
        for mark in self.marks(start, end):
            text = self.answer[mark[0] : mark[1]]
            if opened and _closes(self.answer[opened[-1][0] : opened[-1][1]], text):
                opened.pop()
            else:
                opened.append(mark)
        return opened

    def _mark_ending_at(self, end: int) -> tuple[int, int] | None:
        return next(
            (m for m in layout(self.answer).markup if m[1] == end and _is_emphasis(self.answer[m[0] : m[1]])), None
        )

    def _mark_starting_at(self, start: int) -> tuple[int, int] | None:
        return next(
            (m for m in layout(self.answer).markup if m[0] == start and _is_emphasis(self.answer[m[0] : m[1]])), None
        )

    def bracket_around(self, start: int, end: int, within: tuple[int, int]) -> tuple[int, int] | None:
        """The innermost pair of brackets around a range inside ``within``, brackets included."""
        answer = self.answer
        for opening in range(start - 1, within[0] - 1, -1):
            closing = _PAIRS.get(answer[opening])
            if closing is None or self.is_link(opening):
                continue
            stop = answer.find(closing, end, within[1])
            if stop >= 0 and self.is_balanced(opening, stop + 1):
                return opening, stop + 1
        return None

    def is_link(self, position: int) -> bool:
        """Whether a character belongs to a Markdown mark or a citation marker."""
        marks = overlapping(layout(self.answer).markup, position, position + 1)
        return any(True for _ in marks) or any(c.start <= position < c.end for c in self.analysis.citations)


def _is_emphasis(mark: str) -> bool:
    return bool(mark) and not mark.strip("*_~`")


def _closes(opening: str, mark: str) -> bool:
    if opening.startswith(("[", "![")):
        return mark.startswith("]")
    return opening == mark and _is_emphasis(mark)
