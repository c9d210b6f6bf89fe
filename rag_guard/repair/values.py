"""Put the documents' own value in the place of a wrong one, in the answer's notation, unit and case."""

from __future__ import annotations

import re

from rag_guard.repair.edits import Change
from rag_guard.repair.outline import Outline
from rag_guard.schema import Report, Span
from rag_guard.text.quantities import Quantity, find_quantities
from rag_guard.text.quantities.model import PartialDate
from rag_guard.text.words import Word, find_words, normalize

_TRUTH = frozenset("true false yes no none null n/a".split())
_DIGITS = re.compile(r"\d+")
_NUMERIC_DATE = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})\Z")
_DAY = re.compile(r"(\d{1,4})(st|nd|rd|th)?\b")
_MONTH_WORD = re.compile(r"[^\W\d_]{3,}\.?")
_CLOCK = re.compile(r"(?P<hour>\d{1,2})(?:(?P<mark>[:.h])(?P<minute>\d{2}))?(?P<gap>\s*)(?P<half>[ap]\.?m\.?)?", re.I)
_GROUPED = re.compile(r"\d{1,3}(?:([,.'’\u00a0\u202f ])\d{3})+(?!\d)")
_ANCHOR_REACH = 5


def value_changes(outline: Outline, report: Report, span: Span) -> tuple[Change, ...] | None:
    """The changes that put ``span.expected`` in the place of the span, or None where it does not fit there."""
    expected = span.expected
    if not expected or not expected.strip() or _says_something_else(outline, span, expected):
        return None
    own = _quantity_at(outline, span)
    source = next(iter(find_quantities(expected, outline.language)), None)
    if own is not None and source is not None and source.end - source.start >= 0.6 * len(expected.strip()):
        changes = _quantity(outline, span, own, source)
    else:
        changes = _phrase(outline, report, span, expected)
    return tuple(Change(c.start, c.end, c.replacement, c.reason, span.evidence) for c in changes) if changes else None


def _says_something_else(outline: Outline, span: Span, expected: str) -> bool:
    """Whether the expected value cannot stand in the sentence: "False" of a record, or a value for a whole sentence."""
    if expected.strip().casefold() in _TRUTH and span.text.casefold() not in _TRUTH:
        return True
    for claim in outline.analysis.claims:
        if claim.kind in ("sentence", "clause") and span.start <= claim.start and claim.end <= span.end + 1:
            return len(find_words(expected)) < len(find_words(span.text)) - 1
    return False


def _quantity_at(outline: Outline, span: Span) -> Quantity | None:
    return next((q for q in outline.analysis.quantities if q.start < span.end and span.start < q.end), None)


# --- quantities -------------------------------------------------------------------------------------------------------


def _quantity(outline: Outline, span: Span, own: Quantity, source: Quantity) -> list[Change] | None:
    reason = f"the documents have {source.text}"
    written = _written(own, source)
    if written is not None:
        return _smallest(own.start, own.end, own.text, written, reason, outline)
    number = source.text[source.value_start - source.start : source.value_end - source.start]
    if own.kind == source.kind == "measure" and own.unit != source.unit and own.unit_start is not None:
        assert own.unit_end is not None
        changes = [Change(own.unit_start, own.unit_end, source.unit_text or "", reason)]
        if own.low != source.low:
            changes.append(Change(own.value_start, own.value_end, number, reason))
        return changes
    if not own.is_range and not source.is_range and own.low is not None and source.low is not None:
        if source.unit is None or own.unit == source.unit:
            return [Change(own.value_start, own.value_end, _in_notation(outline, own, source, number), reason)]
        if own.unit is None:
            # The unit may stand behind a mark, as in "**888** m".
            text = _without_repeated_edges(outline, own.start, own.end, source.text)
            return [Change(own.start, own.end, text, reason)]
    if outline.marks(own.start, own.end):
        return None
    text = _without_repeated_edges(outline, own.start, own.end, source.text)
    return [Change(own.start, own.end, text, reason)]


def _written(own: Quantity, source: Quantity) -> str | None:
    """A date or a time as the answer writes them, or None where it cannot be."""
    if own.date is None or source.date is None or own.date_end or source.date_end:
        return None
    if own.kind == "time" and source.date.hour is not None:
        return _clock(own.text, source.date)
    numeric = _NUMERIC_DATE.match(own.text)
    if numeric:
        return _numeric_date(numeric, own.date, source.date)
    return _date_in_words(own, source)


def _clock(text: str, time: PartialDate) -> str | None:
    match = _CLOCK.fullmatch(text.strip())
    if match is None or time.hour is None:
        return None
    hour, minute, half = time.hour, time.minute or 0, match.group("half")
    if half:
        if time.half_day_unknown:
            return None
        after_noon = "p" if hour >= 12 else "a"
        half = half.replace("a", after_noon).replace("p", after_noon).replace("A", after_noon.upper())
        half = half.replace("P", after_noon.upper())
        hour = hour % 12 or 12
    width = 2 if match.group("hour").startswith("0") or (not half and match.group("mark")) else 1
    minutes = f"{match.group('mark') or ':'}{minute:02d}" if minute or match.group("minute") else ""
    return f"{hour:0{width}d}{minutes}{match.group('gap')}{half or ''}"


def _numeric_date(match: re.Match[str], own: PartialDate, source: PartialDate) -> str | None:
    parts = []
    used: set[str] = set()
    for group in (1, 3, 4):
        text = match.group(group)
        names = (
            ("year",) if len(text) == 4 else ("month", "day") if len(match.group(1)) == 4 else ("day", "month", "year")
        )
        unused = (n for n in names if n not in used)
        name = next((n for n in unused if (getattr(own, n) or 0) % 10 ** len(text) == int(text)), None)
        value = getattr(source, name) if name else None
        if name is None or value is None:
            return None
        used.add(name)
        parts.append(f"{value % 10 ** max(len(text), 2):0{len(text)}d}")
    return match.group(2).join(parts)


def _date_in_words(own: Quantity, source: Quantity) -> str | None:
    assert own.date is not None
    assert source.date is not None
    given = [name for name in ("year", "month", "day") if getattr(own.date, name) is not None]
    if any(getattr(source.date, name) is None for name in given) or own.date.hour is not None:
        return None
    text = own.text
    if own.date.month != source.date.month:
        month, other = _MONTH_WORD.search(text), _MONTH_WORD.search(source.text)
        if not month or not other:
            return None
        text = text[: month.start()] + other.group() + text[month.end() :]

    def swap(match: re.Match[str]) -> str:
        value = int(match.group(1))
        assert own.date is not None
        assert source.date is not None
        if value == own.date.year and source.date.year is not None:
            return str(source.date.year)
        if value == own.date.day and source.date.day is not None:
            return f"{source.date.day}{_ordinal(source.date.day) if match.group(2) else ''}"
        return match.group()

    swapped = _DAY.sub(swap, text)
    return swapped if swapped != own.text else None


def _ordinal(day: int) -> str:
    return "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _in_notation(outline: Outline, own: Quantity, source: Quantity, number: str) -> str:
    """A number as the answer writes numbers: with its magnitude word and its thousands separator."""
    text = outline.answer[own.value_start : own.value_end]
    assert source.low is not None
    if own.scale != 1.0 and source.scale != own.scale:
        scaled = source.low / own.scale
        shown = f"{scaled:.10g}"
        digits = re.match(r"\d[\d.,]*", text)
        if digits and scaled >= 1 and len(shown) <= 6 and "e" not in shown:
            return shown + text[digits.end() :]
    grouped = _GROUPED.fullmatch(text)
    if grouped and number.isdigit() and source.low >= 1000:
        return f"{int(number):,}".replace(",", grouped.group(1))
    if own.scale == source.scale != 1.0 and (digits := re.match(r"\d[\d.,]*", text)):
        other = re.match(r"\d[\d.,]*", number)
        if other:
            return other.group() + text[digits.end() :]
    return number


def _without_repeated_edges(outline: Outline, start: int, end: int, text: str) -> str:
    """``text`` without the words at its edges that the answer has right beside the range already."""
    words = find_words(text)
    around = outline.analysis.words
    after = [w for w in around if w.start >= end]
    before = [w for w in around if w.end <= start]
    for size in range(len(words) - 1, 0, -1):
        if _same(words[-size:], after[:size]):
            return text[: words[-size].start].rstrip()
    for size in range(len(words) - 1, 0, -1):
        if _same(words[:size], before[-size:]):
            return text[words[size - 1].end :].lstrip(" .")
    return text


def _same(words: list[Word], others: list[Word]) -> bool:
    return len(words) == len(others) and all(a.norm == b.norm for a, b in zip(words, others, strict=True))


def _smallest(start: int, end: int, old: str, new: str, reason: str, outline: Outline) -> list[Change] | None:
    """One change of the part in which two texts differ, at word borders."""
    if outline.answer[start:end] != old:
        return None
    low = 0
    while low < min(len(old), len(new)) and old[low] == new[low]:
        low += 1
    high = 0
    while high < min(len(old), len(new)) - low and old[-1 - high] == new[-1 - high]:
        high += 1
    while low and (old[low - 1].isalnum()):
        low -= 1
    while high and old[len(old) - high].isalnum():
        high -= 1
    return [Change(start + low, end - high, new[low : len(new) - high], reason)]


# --- names and phrases ------------------------------------------------------------------------------------------------


def _phrase(outline: Outline, report: Report, span: Span, expected: str) -> list[Change] | None:
    text = expected
    if _conflict_kind(report, span) == "negation":
        anchored = _between_anchors(outline, span)
        if anchored is None:
            return None
        text = anchored
    text = _without_repeated_edges(outline, span.start, span.end, text)
    text = _in_case(outline, span, text)
    start, text = _with_article(outline, span.start, text)
    if outline.marks(span.start, span.end):
        fitted = outline.without_splitting_marks(span.start, span.end)
        if fitted is None or fitted[2]:
            return None
    return [Change(start, span.end, text, f"the documents have {expected}")]


def _conflict_kind(report: Report, span: Span) -> str | None:
    for entity in report.entities:
        for mention in entity.mentions:
            if mention.conflict and mention.start < span.end and span.start < mention.end:
                return mention.conflict
    return None


def _between_anchors(outline: Outline, span: Span) -> str | None:
    """The document's words between those that stand on both sides of the span in the answer.

    A negation takes its auxiliary along: "did not lead to" for "led to".
    """
    if not span.evidence:
        return None
    evidence = span.evidence[0]
    source = outline.analysis.documents[evidence.document].text
    words = find_words(source, outline.language)
    answer = outline.analysis.words
    before = next((w for w in reversed(answer) if w.end <= span.start), None)
    after = next((w for w in answer if w.start >= span.end), None)
    start, end = evidence.start, evidence.end
    sentence = outline.sentence_of(span.start, span.end)
    if before is not None and sentence is not None and before.start >= sentence[0]:
        left = [w for w in words if w.end <= evidence.start][-_ANCHOR_REACH:]
        anchor = next((w for w in reversed(left) if w.stem == before.stem), None)
        if anchor is None:
            return None
        start = anchor.end
    if after is not None and sentence is not None and after.end <= sentence[1]:
        right = [w for w in words if w.start >= evidence.end][:_ANCHOR_REACH]
        anchor = next((w for w in right if w.stem == after.stem), None)
        if anchor is None:
            return None
        end = anchor.start
    text = source[start:end].strip()
    return text if text and "\n" not in text and len(text) <= 2 * len(span.text) + 40 else None


def _in_case(outline: Outline, span: Span, text: str) -> str:
    opens = not outline.answer[: span.start].rstrip(" \n\t*_#>-").endswith(tuple("abcdefghijklmnopqrstuvwxyz,;:("))
    if span.text[0].isupper() and text[0].islower() and opens:
        return text[0].upper() + text[1:]
    first = find_words(text)[:1]
    corpus = outline.analysis.corpus
    is_name = bool(first) and corpus.is_cased_name(normalize(first[0].text))
    if span.text[0].islower() and text[0].isupper() and not text[:2].isupper() and not is_name:
        evidence = span.evidence[0] if span.evidence else None
        starts = {(w.document, w.start) for w in corpus.windows}
        if evidence is not None and (evidence.document, evidence.start) in starts:
            return text[0].lower() + text[1:]
    return text


def _with_article(outline: Outline, start: int, text: str) -> tuple[int, str]:
    """English "a" before a consonant and "an" before a vowel."""
    if outline.language != "en":
        return start, text
    match = re.search(r"\b([Aa])(n?)(\s+)\Z", outline.answer[max(0, start - 4) : start])
    if match is None or bool(match.group(2)) == (text[0].lower() in "aeiou"):
        return start, text
    article = match.group(1) + ("" if match.group(2) else "n")
    return start - len(match.group()), article + match.group(3) + text
