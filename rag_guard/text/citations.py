"""Citation markers in an answer: ``[1]``, ``[2][5]``, ``[1, 3]``, ``(Source 3)``, ``[^1]``, ``[1](url)``.

A marker names documents by number; it is not text, so no claim starts or ends with one.
"""

from __future__ import annotations

from typing import NamedTuple

import regex

from rag_guard.text.blocks import layout


class CitationMarker(NamedTuple):
    """One marker and the 1-based document numbers that it names, in the order written, without repeats."""

    start: int
    end: int
    numbers: tuple[int, ...]


# What documents are called inside a marker, in singular and plural.
_NOUNS = "|".join(
    """sources? docs? documents? passages? contexts? refs? references? citations? chunks? snippets?
    excerpts? articles? results? quellen? dokumente? abschnitte? passagen? fuentes? documentos? fragmentos?
    pasajes? documenti documento fonti fonte brani brano documentos? font fonts fragments? extraits? lähde
    lähteet asiakirja asiakirjat dokumentti dokumentit källa källor dokument zdroj zdroje dokumenty pasáž
    pasáže iturria iturriak dokumentua dokumentuak 来源 文档 文件 资料 参考 段落
    片段 出典 文書 資料 参照 المصدر مصدر المستند
    مستند الوثيقة وثيقة المقطع منبع سند متن स्रोत दस्तावेज़ दस्तावेज источник документ""".split()
)
_NUMBER = r"\d{1,3}"
_JOIN = r"\s*(?:[,;&、，-]|[–—]|\p{L}{1,3}|,\s*\p{L}{1,3})\s*"
_NUMBERS = rf"{_NUMBER}(?:{_JOIN}(?:(?:{_NOUNS})[.:\#]*\s*)?\^?\#?{_NUMBER})*"
_NOUN_NUMBERS = (
    rf"(?:\p{{L}}{{2,9}}\.?\s+){{0,3}}(?:{_NOUNS})(?:\s*[.:\#№_]\s*|\s*)(?:(?:nr|no|n°|nº)\.?\s*)?{_NUMBERS}"
)
_MARKER = regex.compile(
    rf"""(?P<link>\[\[?\^?(?P<a>{_NUMBERS})\]?\]\([^()\s]*\))
    |\[\[(?P<b>{_NUMBERS})\]\]
    |<sup>\s*\[?(?P<c>{_NUMBERS})\]?\s*</sup>
    |\[\^(?P<d>{_NUMBERS})\](?::(?=\s))?
    |(?P<plain>\[\s*\#?(?P<e>{_NUMBERS})\s*\])
    |\[\s*(?P<f>{_NOUN_NUMBERS})\s*\]
    |[(（]\s*(?P<g>{_NOUN_NUMBERS})\s*[)）]
    |【\s*(?P<h>(?:(?:{_NOUNS})\s*:?\s*)?{_NUMBERS})(?:[†:][^】\n]{{0,80}})?\s*】""",
    regex.VERBOSE | regex.IGNORECASE,
)
_ANY = regex.compile(r"[\[(（【<]")
_DIGITS = regex.compile(r"\d+")
_RANGE = regex.compile(r"(\d+)\s*[-–—]\s*(\d+)")
# A lower-case letter, or a name with an underscore, before the bracket: an index of an array.
_INDEXED = regex.compile(r"(?:\b\p{Ll}|\w*_\w*|\])\Z")
# An array in JSON or in an assignment ("sizes": [1, 2]).
_ASSIGNED = regex.compile(r"(?:[\"']\s*:|=)\s*\Z")
_AFTER_INDEX = regex.compile(r"\s*=(?!=)|\.\p{L}|\(")
_WIDEST_RANGE = 100


_REFERENCE = regex.compile(rf"\b(?:{_NOUNS})\s*\#?{_NUMBERS}(?!\w|[.,]\d)", regex.IGNORECASE)


def find_references(text: str) -> list[tuple[int, int]]:
    """Ranges that name a document in running text, such as ``Passage 2`` or ``sources 1 and 3``.

    They are part of the sentence, but the number is the document's and no fact.
    """
    return [match.span() for match in _REFERENCE.finditer(text)]


def find_citations(text: str) -> list[CitationMarker]:
    """The citation markers of ``text`` in order; numbers are 0 to 999, and code has no markers."""
    if not _ANY.search(text):
        return []
    code = layout(text).code if "`" in text or "~~~" in text else ()
    markers: list[CitationMarker] = []
    for match in _MARKER.finditer(text):
        start, end = match.span()
        if any(first < end and start < last for first, last in code):
            continue
        if match.group("plain") and _is_index(text, start, end, markers):
            continue
        body = next(group for group in match.group("a", "b", "c", "d", "e", "f", "g", "h") if group is not None)
        markers.append(CitationMarker(start, end, _numbers(body)))
    return markers


def _numbers(body: str) -> tuple[int, ...]:
    numbers: dict[int, None] = {}
    position = 0
    while match := _DIGITS.search(body, position):
        span = _RANGE.match(body, match.start())
        if span and 0 < int(span[2]) - int(span[1]) <= _WIDEST_RANGE:
            numbers.update(dict.fromkeys(range(int(span[1]), int(span[2]) + 1)))
            position = span.end()
        else:
            numbers[int(match.group())] = None
            position = match.end()
    return tuple(numbers)


def _is_index(text: str, start: int, end: int, markers: list[CitationMarker]) -> bool:
    if _ASSIGNED.search(text, max(0, start - 8), start):
        return True
    if start == 0 or text[start - 1].isspace():
        return False
    if markers and markers[-1].end == start:
        return False
    before = text[max(0, start - 40) : start]
    if _INDEXED.search(before):
        return True
    return before[-1].isalnum() and bool(_AFTER_INDEX.match(text, end))
