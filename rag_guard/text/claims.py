"""Claims: the smallest checkable statements of an answer, as exact ranges.

Filler, questions, headings and lead-ins are no claims; an abstention ("I don't know.") is one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple

import regex

from rag_guard.text.blocks import Block, find_cells, layout
from rag_guard.text.citations import CitationMarker, find_citations
from rag_guard.text.clauses import clause_cuts
from rag_guard.text.filler import filler_prefix, is_filler, is_lead_in
from rag_guard.text.lexicons.cues import Lexicon, candidates
from rag_guard.text.sentences import block_sentences

ClaimKind = Literal["sentence", "clause", "list_item", "table_cell", "code", "heading", "word"]


class ClaimRange(NamedTuple):
    """One claim.

    Attributes:
        start / end: the claim, without list and heading marks, emphasis and citation markers at its edges.
        kind: ``clause`` is a part of a sentence that stands on its own; ``word`` is a fragment such as
            "1967" or "Yes." that only a question makes a statement.
        context_start / context_end: the sentence, list item or table row around it.
    """

    start: int
    end: int
    kind: ClaimKind
    context_start: int
    context_end: int


_WORD_CHAR = regex.compile(r"[\p{L}\p{N}]")
_WORDS = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}'’.,\-]*")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]")
_TERMINATED = regex.compile(r"[.!?。！？।؟…۔]\W*\Z")
_QUESTION = regex.compile(r"[?？؟]\W*\Z")
_DIGIT = regex.compile(r"\p{N}")
# A number that a heading states, as against one that counts its section or its tips.
_STATED_NUMBER = regex.compile(r"\d[\d.,]*\d{2}|\d+[.,]\d|\d\s*%|[$€£¥]\s*\d")
_SECTION = regex.compile(r"\W*\d+(?:\.\d+)*[.):]?\s+")
_STOPS = ".!?。！？।॥؟…"
_OPENING = {pair[0]: pair[1] for pair in ("()", "[]", "{}", "（）", "【】", "「」", "『』", "《》", "“”", "«»")}
_CLOSING = {closer: opener for opener, closer in _OPENING.items()}
_ENDS = frozenset(_STOPS + "۔%‰°\"'”’€$£¥₹+")
_STARTS = frozenset("\"'‘$€£¥₹+−±~≈<>≤≥.@¿¡&/\\=")
_ENDING_MARK = regex.compile(r"[\p{M}\p{Sc}]")
_DASHES = "-–"


def find_claims(
    answer: str, language: str | None = None, citations: Sequence[CitationMarker] | None = None
) -> list[ClaimRange]:
    """The claims of ``answer`` in order, never overlapping.

    Args:
        language: ISO 639-1 code; None tries every language of the text's script for filler.
        citations: the answer's markers if they are known already; None finds them.
    """
    edges = _Edges(answer, find_citations(answer) if citations is None else citations)
    lexicons = candidates(language, answer)
    blocks = [block for block in layout(answer).blocks if block.kind not in ("rule", "table_rule", "table_header")]
    claims: list[ClaimRange] = []
    headings: list[ClaimRange] = []
    for index, block in enumerate(blocks):
        announces = index + 1 < len(blocks)
        found = _block_claims(answer, block, announces, language, edges, lexicons)
        if block.kind == "heading" or _is_bold_line(answer, block):
            (claims if _states_something(answer, block) else headings).extend(found)
        else:
            claims += found
    # Of an answer that is nothing but a heading, the heading is the answer.
    return _mark_words(answer, claims or headings)


def _block_claims(
    answer: str,
    block: Block,
    announces: bool,
    language: str | None,
    edges: _Edges,
    lexicons: tuple[Lexicon, ...],
) -> list[ClaimRange]:
    if block.kind == "code":
        has_content = _WORD_CHAR.search(answer, block.start, block.end)
        return [ClaimRange(block.start, block.end, "code", block.start, block.end)] if has_content else []
    if block.kind == "table_row":
        cells = (edges.trim(start, end) for start, end in find_cells(answer, block))
        return [ClaimRange(*cell, "table_cell", block.start, block.end) for cell in cells if cell is not None]
    sentences = block_sentences(answer, block, language)
    claims: list[ClaimRange] = []
    for number, sentence in enumerate(sentences):
        checkable = edges.trim(*sentence)
        if checkable is None:
            continue
        start, end = checkable
        text = answer[start:end]
        if is_filler(text, lexicons) or _is_question(text):
            continue
        # The colon of a lead-in was trimmed off with the edge, so it stands behind the range.
        if answer[end : end + 4].lstrip("*_ ")[:1] in (":", "：") and is_lead_in(
            text, lexicons, announces=announces or number + 1 < len(sentences)
        ):
            continue
        skipped = filler_prefix(text, lexicons)
        if skipped:
            checkable = edges.trim(start + skipped, end)
            if checkable is None:
                continue
            start, end = checkable
        claims += _clauses(answer, start, end, edges, lexicons)
    if block.kind == "list_item" and len(claims) == 1 and claims[0].kind == "sentence":
        return [claims[0]._replace(kind="list_item")]
    if block.kind == "heading":
        return [claim._replace(kind="heading") for claim in claims]
    return claims


def _clauses(answer: str, start: int, end: int, edges: _Edges, lexicons: tuple[Lexicon, ...]) -> list[ClaimRange]:
    """The sentence as one claim, or its clauses where each clearly stands on its own."""
    cuts = clause_cuts(answer, start, end, lexicons)
    if cuts:
        starts = [start, *(cut_end for _, cut_end in cuts)]
        stops = [*(cut_start for cut_start, _ in cuts), end]
        parts = [edges.trim(first, last) for first, last in zip(starts, stops, strict=True)]
        clauses = [ClaimRange(*part, "clause", start, end) for part in parts if part is not None]
        if len(clauses) == len(parts) and all(
            _count_words(answer, clause.start, clause.end) >= 2 for clause in clauses
        ):
            return clauses
    return [ClaimRange(start, end, "sentence", start, end)]


class _Edges:
    """Cuts space, marks and citation markers off the edges of a range."""

    def __init__(self, answer: str, citations: Sequence[CitationMarker]) -> None:
        self._answer = answer
        self._starts = [marker.start for marker in citations]
        self._ends = [marker.end for marker in citations]

    def trim(self, start: int, end: int) -> tuple[int, int] | None:
        """The range between the edges, or None if nothing checkable is left."""
        answer = self._answer
        while start < end:
            marker = self._marker_at(start)
            if marker is not None:
                start = self._ends[marker]
            elif not self._may_start(start, end):
                start += 1
            else:
                break
        while start < end:
            marker = self._marker_at(end - 1)
            stop = end
            # A full stop behind a citation marker goes with the marker.
            while marker is None and stop > start and (answer[stop - 1] in _STOPS or answer[stop - 1].isspace()):
                stop -= 1
                marker = self._marker_at(stop - 1)
            if marker is not None:
                end = self._starts[marker]
            elif not self._may_end(start, end):
                end -= 1
            else:
                break
        if start >= end or not _WORD_CHAR.search(answer, start, end):
            return None
        return start, end

    def _marker_at(self, position: int) -> int | None:
        index = bisect_right(self._starts, position) - 1
        return index if index >= 0 and position < self._ends[index] else None

    def _may_start(self, start: int, end: int) -> bool:
        char = self._answer[start]
        if char.isalnum():
            return True
        if char in _OPENING:
            return self._answer.find(_OPENING[char], start, end) >= 0
        if char in _DASHES:
            return start + 1 < end and self._answer[start + 1].isdigit()
        return char in _STARTS

    def _may_end(self, start: int, end: int) -> bool:
        char = self._answer[end - 1]
        if char.isalnum() or char in _ENDS:
            return True
        if char in _CLOSING:
            return self._answer.find(_CLOSING[char], start, end) >= 0
        return _ENDING_MARK.match(char) is not None


def _is_question(text: str) -> bool:
    """Whether a sentence asks and so states nothing; a question with a number may state it on the way."""
    return bool(_QUESTION.search(text)) and not _DIGIT.search(text) and _count_words(text, 0, len(text)) >= 3


def _is_bold_line(answer: str, block: Block) -> bool:
    """Whether a paragraph is one emphasised line without a full stop: a heading by another name."""
    text = answer[block.start : block.end]
    mark = text[:2]
    return (
        block.kind == "paragraph"
        and mark in ("**", "__")
        and text.rstrip(":： ")[-2:] == mark
        and text.count(mark) == 2
        and "\n" not in text
        and not _TERMINATED.search(text)
    )


def _states_something(answer: str, block: Block) -> bool:
    """Whether a heading is a statement: a full sentence, or one with a number that is more than a count."""
    text = answer[block.start : block.end]
    section = _SECTION.match(text)
    body = text[section.end() :] if section else text
    return bool(_STATED_NUMBER.search(body)) or bool(_TERMINATED.search(body) and " " in body)


def _mark_words(answer: str, claims: list[ClaimRange]) -> list[ClaimRange]:
    """Give fragments the kind ``word``: one word anywhere, or a few that are the whole answer."""
    marked = []
    for claim in claims:
        if claim.kind in ("sentence", "heading"):
            count = _count_words(answer, claim.start, claim.end)
            alone = len(claims) == 1
            ended = _TERMINATED.search(answer[claim.start : claim.end])
            if count <= 1 or (alone and (count == 2 or (count == 3 and not ended))):
                claim = claim._replace(kind="word")
        marked.append(claim)
    return marked


def _count_words(text: str, start: int, end: int) -> int:
    """Words, where four characters of a script without spaces count as one."""
    text = text[start:end]
    if text.isascii():
        return len(_WORDS.findall(text))
    unspaced = len(_UNSPACED.findall(text))
    return len(_WORDS.findall(_UNSPACED.sub(" ", text))) + (unspaced + 3) // 4
