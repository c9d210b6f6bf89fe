"""Claims: the smallest checkable statements of an answer, as exact ranges; filler, headings and lead-ins are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import regex

from rag_guard.text.blocks import Block, find_cells, layout
from rag_guard.text.citations import CitationMarker, find_citations
from rag_guard.text.filler import filler_prefix, is_filler, is_lead_in
from rag_guard.text.lexicons.cues import Lexicon, candidates
from rag_guard.text.sentences import block_sentences

ClaimKind = Literal["sentence", "clause", "list_item", "table_cell", "code", "heading", "word"]


class ClaimRange(NamedTuple):
    """One claim.

    Attributes:
        start / end: the claim, without markers, emphasis at its edges, citation markers and surrounding space.
        kind: ``clause`` is a part of a sentence that stands on its own; ``word`` is a fragment such as "1967" or "Yes."
            that only a question makes a statement.
        context_start / context_end: the sentence, list item or table row around it.
    """

    start: int
    end: int
    kind: ClaimKind
    context_start: int
    context_end: int


_WORD_CHAR = regex.compile(r"[\p{L}\p{N}]")
_WORDS = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}'’.,\-]*")
_HAN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]")
_SEMICOLON = regex.compile(r"[;；]\s*")
_COMMA = regex.compile(r"[,،，、]\s*")
_TERMINATED = regex.compile(r"[.!?。！？।؟…۔]\W*\Z")
# A number that a heading states, as against one that counts its section or its tips.
_STATED_NUMBER = regex.compile(r"\d[\d.,]*\d{2}|\d+[.,]\d|\d\s*%|[$€£¥]\s*\d")
_SECTION = regex.compile(r"\W*\d+(?:\.\d+)*[.):]?\s+")
# Opening marks may start a claim if their partner is inside it; these never belong to a claim's edge by themselves.
_EDGE_DROP = frozenset("*_~`#|>-–—•·,;:，；：、،؛\ufeff\u200b\u200e\u200f")
_PAIRS = {
    ")": "(",
    "]": "[",
    "}": "{",
    "）": "（",
    "】": "【",
    "」": "「",
    "』": "『",
    "》": "《",
    "”": "“",
    "»": "«",
}
_OPENERS = {opener: closer for closer, opener in _PAIRS.items()}
_ENDS = frozenset(".!?。！？।॥؟…۔%‰°\"'”’»)]}）】」』》€$£¥₹+")
_STARTS = frozenset("\"'“‘«([{（【「『《$€£¥₹+-−–±~≈<>≤≥.#@¿¡&/\\=")


def find_claims(
    answer: str, language: str | None = None, citations: Sequence[CitationMarker] | None = None
) -> list[ClaimRange]:
    """The claims of ``answer`` in order, never overlapping; an abstention ("I don't know.") is one, filler is not.

    ``citations`` saves finding the markers again; None finds them.
    """
    if citations is None or not citations:
        citations = find_citations(answer)
    lexicons = candidates(language, answer)
    blocks = [
        block for block in layout(answer).blocks if block.kind not in ("rule", "table_rule", "table_header")
    ]
    claims: list[ClaimRange] = []
    headings: list[ClaimRange] = []
    for index, block in enumerate(blocks):
        following = blocks[index + 1] if index + 1 < len(blocks) else None
        found = _block_claims(answer, block, following, language, citations, lexicons)
        if block.kind == "heading" or _is_bold_line(answer, block):
            (claims if _states_something(answer, block) else headings).extend(found)
        else:
            claims += found
    if not claims:
        claims = headings
    return _mark_words(answer, claims)


def _block_claims(
    answer: str,
    block: Block,
    following: Block | None,
    language: str | None,
    citations: Sequence[CitationMarker],
    lexicons: tuple[Lexicon, ...],
) -> list[ClaimRange]:
    if block.kind == "code":
        return [ClaimRange(block.start, block.end, "code", block.start, block.end)]
    if block.kind == "table_row":
        cells = (_trim(answer, start, end, citations) for start, end in find_cells(answer, block))
        return [ClaimRange(*cell, "table_cell", block.start, block.end) for cell in cells if cell is not None]
    sentences = block_sentences(answer, block, language)
    claims: list[ClaimRange] = []
    for number, (start, end) in enumerate(sentences):
        trimmed = _trim(answer, start, end, citations)
        if trimmed is None:
            continue
        start, end = trimmed
        last = number + 1 == len(sentences)
        announced = following.kind if last and following is not None else None
        # The colon of a lead-in was trimmed off with the edge; look behind the range for it.
        colon = answer[end : end + 4].lstrip("*_ ")[:1] in (":", "：")
        if is_filler(answer[start:end], lexicons) or (
            colon and is_lead_in(answer[start:end], lexicons, announces=announced is not None or not last)
        ):
            continue
        skipped = filler_prefix(answer[start:end], lexicons)
        if skipped:
            trimmed = _trim(answer, start + skipped, end, citations)
            if trimmed is None:
                continue
            start, end = trimmed
        claims += _clauses(answer, start, end, block, citations, lexicons)
    if block.kind == "list_item" and len(claims) == 1 and claims[0].kind == "sentence":
        claims = [claims[0]._replace(kind="list_item")]
    elif block.kind == "heading":
        claims = [claim._replace(kind="heading") for claim in claims]
    return claims


def _clauses(
    answer: str,
    start: int,
    end: int,
    block: Block,
    citations: Sequence[CitationMarker],
    lexicons: tuple[Lexicon, ...],
) -> list[ClaimRange]:
    """The sentence as one claim, or its clauses where each clearly stands on its own."""
    cuts = _clause_cuts(answer, start, end, lexicons)
    if cuts:
        edges = [start, *(cut_end for _, cut_end in cuts)]
        stops = [*(cut_start for cut_start, _ in cuts), end]
        parts = [_trim(answer, first, last, citations) for first, last in zip(edges, stops, strict=True)]
        if all(part is not None and _count_words(answer, *part) >= 2 for part in parts):
            return [ClaimRange(*part, "clause", start, end) for part in parts if part is not None]
    return [ClaimRange(start, end, "sentence", start, end)]


def _clause_cuts(answer: str, start: int, end: int, lexicons: tuple[Lexicon, ...]) -> list[tuple[int, int]]:
    cuts = [
        match.span()
        for match in _SEMICOLON.finditer(answer, start, end)
        if _is_top_level(answer, start, match)
    ]
    for match in _COMMA.finditer(answer, start, end):
        if _opens_clause(answer, match.end(), end, lexicons) and _is_top_level(answer, start, match):
            cuts.append(match.span())
    return sorted(cuts)


def _is_top_level(answer: str, start: int, match: regex.Match[str]) -> bool:
    before = answer[start : match.start()]
    return all(before.count(opener) <= before.count(closer) for opener, closer in _OPENERS.items()) and (
        before.count('"') % 2 == 0 and before.count("`") % 2 == 0
    )


def _opens_clause(answer: str, start: int, end: int, lexicons: tuple[Lexicon, ...]) -> bool:
    """Whether a conjunction with a new subject and a finite verb follows; nothing else is safe to split at."""
    words = [
        match.group().casefold().strip(".,'’")
        for match in _WORDS.finditer(answer, start, min(end, start + 120))
    ]
    if len(words) < 4:
        return False
    for lexicon in lexicons:
        adversative = words[0] in lexicon.cues("adversatives")
        if not adversative and words[0] not in lexicon.cues("conjunctions"):
            continue
        subject = words[1] in lexicon.cues("subjects")
        auxiliaries = lexicon.cues("auxiliaries")
        verb = next((place for place, word in enumerate(words[1:7], 1) if word in auxiliaries), 0)
        if subject or verb >= 2:
            return True
    return False


def _trim(answer: str, start: int, end: int, citations: Sequence[CitationMarker]) -> tuple[int, int] | None:
    """The range without space, marks and citation markers at its edges; None if nothing checkable is left."""
    changed = True
    while changed and start < end:
        changed = False
        for marker in citations:
            if marker.start <= start < marker.end:
                start, changed = min(marker.end, end), True
            if marker.start < end <= marker.end:
                end, changed = max(marker.start, start), True
        while start < end and not _starts_claim(answer, start, end):
            start, changed = start + 1, True
        while start < end and not _ends_claim(answer, start, end):
            end, changed = end - 1, True
        # A full stop behind a citation marker belongs to the marker's side.
        stop = end
        while stop > start and (answer[stop - 1] in _ENDS and answer[stop - 1] in ".!?。！？।؟…"):
            stop -= 1
        stop = len(answer[:stop].rstrip()) if stop < end else stop
        if stop < end and any(marker.end == stop and marker.start >= start for marker in citations):
            end, changed = stop, True
    if start >= end or not _WORD_CHAR.search(answer, start, end):
        return None
    return start, end


def _starts_claim(answer: str, start: int, end: int) -> bool:
    char = answer[start]
    if char.isalnum():
        return True
    if char in _OPENERS:
        return _OPENERS[char] in answer[start:end]
    if char in "-–":
        return answer[start + 1 : start + 2].isdigit()
    return char in _STARTS and char not in _EDGE_DROP


def _ends_claim(answer: str, start: int, end: int) -> bool:
    char = answer[end - 1]
    if char in _PAIRS:
        return _PAIRS[char] in answer[start:end]
    if char in _EDGE_DROP or char.isspace():
        return False
    return char.isalnum() or char in _ENDS or regex.match(r"\p{M}|\p{Sc}|[²³½¼¾]", char) is not None


def _is_bold_line(answer: str, block: Block) -> bool:
    """Whether a paragraph is one emphasised line without a full stop: a heading by another name."""
    text = answer[block.start : block.end]
    return (
        block.kind == "paragraph"
        and text[:2] in ("**", "__")
        and text.rstrip(":： ")[-2:] == text[:2]
        and text.count(text[:2]) == 2
        and "\n" not in text
        and not _TERMINATED.search(text)
    )


def _states_something(answer: str, block: Block) -> bool:
    """Whether a heading is a statement: a full sentence, or one with a number that is more than a count."""
    text = answer[block.start : block.end]
    section = _SECTION.match(text)
    body = text[section.end() :] if section else text
    return bool(_STATED_NUMBER.search(body)) or bool(
        _TERMINATED.search(body) and " " in body and "?" not in body
    )


def _mark_words(answer: str, claims: list[ClaimRange]) -> list[ClaimRange]:
    """Give fragments the kind ``word``: one word anywhere, or a few without a full stop as the whole answer."""
    marked = []
    for claim in claims:
        if claim.kind in ("sentence", "heading"):
            count = _count_words(answer, claim.start, claim.end)
            if count == 1 or (
                len(claims) == 1
                and (count == 2 or (count == 3 and not _TERMINATED.search(answer[claim.start : claim.end])))
            ):
                claim = claim._replace(kind="word")
        marked.append(claim)
    return marked


def _count_words(answer: str, start: int, end: int) -> int:
    """Words, where four characters of a script without spaces count as one."""
    text = answer[start:end]
    unspaced = len(_HAN.findall(text)) if not text.isascii() else 0
    if unspaced:
        text = _HAN.sub(" ", text)
    return len(_WORDS.findall(text)) + (unspaced + 3) // 4
