"""Sentences with exact offsets: sentencex splits; this module owns blocks, line ends, trimming, offsets."""

from __future__ import annotations

import regex
import sentencex

from rag_guard.text.blocks import Block, layout, mask_markup, overlapping
from rag_guard.text.lexicons.function_words import function_words
from rag_guard.text.words import normalize

_SURROGATE = regex.compile(r"[\ud800-\udfff]")
_NEWLINE = regex.compile(r"[^\S\r\n]*(?:\r\n|[\r\n\u2028\u2029])\s*")
# Punctuation inside code and between a number and its unit must not end a sentence.
_TERMINATORS = regex.compile(r"[.!?。！？।؟…]")
_ORDINAL_END = regex.compile(r"(?<![\d.,])\d{1,2}\.\s*\Z")
# Of a language not known, only what looks like a date: a short preposition before the number.
_DATED_END = regex.compile(r"\b\p{L}\p{Ll}{1,2}\s\d{1,2}\.\s*\Z")
# Hindi ends sentences with a danda; a full stop behind a few letters abbreviates ("डॉ.").
_SHORT_HINDI = regex.compile(r"(?<![\p{L}\p{M}])[\p{Devanagari}]{1,4}\.\s*\Z")
_FIRST_WORD = regex.compile(r"[\p{L}\p{M}]+")
# A full stop (or two) with closing marks, then a pictograph or a bullet: sentencex reads on.
_BEFORE_SYMBOL = regex.compile(r"[.!?。！？।؟][\"'”’)\]»]*\s+(?=[\p{So}\p{Extended_Pictographic}--\p{N}])", regex.V1)
# Scripts without spaces: sentencex wants a Japanese or Chinese code for the full-width terminators.
_WIDE_END = regex.compile(r"[。！？｡]+[」』”’）)\]】》〉\"']*\s*|[।॥]+\s*|[؟۔]+[»”\"')]*\s+")
_LOWER = regex.compile(r"\p{Ll}")
_WRAP_WIDTH = 60
# Languages that write ordinals as "3."; in German a noun with a capital follows.
_ORDINAL_DOT = frozenset(
    {"de", "cs", "da", "no", "nb", "fi", "eu", "hu", "sk", "sl", "hr", "sr", "et", "lv", "pl", "is"}
)


def find_sentences(text: str, language: str | None = None) -> list[tuple[int, int]]:
    """Trimmed, non-empty sentence ranges in order; none crosses a block.

    A table row and a code block are one range each. ``language`` is an ISO 639-1 code; None reads as English,
    which knows the common terminators of all scripts.
    """
    sentences: list[tuple[int, int]] = []
    for block in layout(text).blocks:
        if block.kind not in ("rule", "table_rule"):
            sentences += block_sentences(text, block, language)
    return sentences


def block_sentences(text: str, block: Block, language: str | None = None) -> list[tuple[int, int]]:
    """The sentences of one block; a code block or a table row is a single range."""
    if block.kind in ("code", "table_row", "table_header", "rule", "table_rule"):
        return [(block.start, block.end)]
    masked = mask_markup(text, block.start, block.end)
    pieces: list[str] = []
    position = 0
    for start, end in overlapping(layout(text).code, block.start, block.end):
        start, end = max(start - block.start, 0), end - block.start
        pieces += masked[position:start], _TERMINATORS.sub("_", masked[start:end])
        position = end
    masked = "".join((*pieces, masked[position:]))
    ranges: list[tuple[int, int]] = []
    for start, end in _lines(masked):
        ranges += _split(masked, start, end, language)
    return [
        (block.start + start, block.start + end)
        for start, end in (_trim(masked, start, end) for start, end in ranges)
        if start < end
    ]


def _lines(text: str) -> list[tuple[int, int]]:
    """Ranges between line ends that end a statement; an end that only wraps a paragraph does not.

    A line end wraps if the next line goes on in lower case, or if its first word would not have fitted in the
    paragraph's width.
    """
    if "\n" not in text and "\r" not in text and "\u2028" not in text and "\u2029" not in text:
        return [(0, len(text))]
    breaks = [match.span() for match in _NEWLINE.finditer(text)]
    edges = [0, *(end for _, end in breaks)]
    widths = [stop - start for start, stop in zip(edges, [*(start for start, _ in breaks), len(text)], strict=True)]
    width = max(widths)
    lines = []
    start = 0
    for (stop, following), length in zip(breaks, widths, strict=False):
        if following >= len(text):
            continue
        word = text[following : following + 40].split(maxsplit=1)[0]
        wraps = width >= _WRAP_WIDTH and length + 1 + len(word) > width
        if not wraps and not (_LOWER.match(word) and not text[:stop].rstrip().endswith(":")):
            lines.append((start, stop))
            start = following
    lines.append((start, len(text)))
    return lines


def _split(text: str, start: int, end: int, language: str | None) -> list[tuple[int, int]]:
    piece = text[start:end]
    if not piece.isascii():
        piece = _SURROGATE.sub("\ufffd", piece)
    cuts = [boundary["end_index"] for boundary in sentencex.get_sentence_boundaries(language or "en", piece)]
    if len(cuts) > 1 and (language is None or language == "hi" or language in _ORDINAL_DOT):
        cuts = [cut for cut in cuts if not _joins(piece, cut, language)]
    if not piece.isascii():
        cuts += [match.end() for match in _WIDE_END.finditer(piece)]
        cuts += [match.end() for match in _BEFORE_SYMBOL.finditer(piece)]
        cuts = sorted(set(cuts))
    if not cuts or cuts[-1] != len(piece):
        cuts.append(len(piece))
    edges = [0, *cuts]
    return [(start + first, start + last) for first, last in zip(edges, cuts, strict=False)]


def _joins(piece: str, cut: int, language: str | None) -> bool:
    """Whether the full stop before a cut marks an ordinal number or an abbreviation and ends no sentence."""
    if cut >= len(piece):
        return False
    near = piece[max(0, cut - 12) : cut]
    if language == "hi":
        return _SHORT_HINDI.search(near) is not None
    ordinal = (_ORDINAL_END if language is not None else _DATED_END).search(near)
    if ordinal is None:
        return False
    word = _FIRST_WORD.match(piece, cut)
    # A function word behind it starts a sentence ("Er hat 5. Der Rest ..."); a noun goes on ("der 3. Platz").
    return word is not None and normalize(word.group()) not in function_words(language or "en")


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
