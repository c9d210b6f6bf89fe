"""Comparing dates, years and clock times by the parts that both sides give."""

from __future__ import annotations

import math
import re

from rag_guard.text.quantities.folding import fold, nfc
from rag_guard.text.quantities.lexicon import lexicon
from rag_guard.text.quantities.model import Agreement, PartialDate, Quantity

DATE_PARTS = ("year", "month", "day", "hour", "minute", "second")
_RELATIVE_EQUALITY = 1e-6


def close(first: float | None, second: float | None) -> bool:
    """Whether two values are the same number up to floating point."""
    if first is None or second is None:
        return False
    return first == second or math.isclose(first, second, rel_tol=_RELATIVE_EQUALITY, abs_tol=1e-12)


def _parts(date: PartialDate, names: tuple[str, ...]) -> dict[str, int]:
    return {name: value for name in names if (value := getattr(date, name)) is not None}


def compare_dates(answer: Quantity, source: Quantity) -> Agreement:
    """Compare two dates, years, decades or centuries."""
    if answer.low is not None and source.low is not None and (answer.is_range or source.is_range):
        return _compare_year_spans(answer, source)
    if answer.date is None or source.date is None:
        return _compare_year_with_span(answer, source)
    if answer.date_end is not None or source.date_end is not None:
        return _compare_date_ranges(answer, source)
    return _compare_partial(answer.date, source.date)


def _compare_partial(answer: PartialDate, source: PartialDate) -> Agreement:
    best = Agreement.INCOMPARABLE
    for first in _readings(answer):
        for second in _readings(source):
            agreement = _compare_parts(first, second)
            if agreement is Agreement.EQUAL:
                return agreement
            if best is Agreement.INCOMPARABLE or agreement is Agreement.APPROXIMATE:
                best = agreement
    return best


def _readings(date: PartialDate) -> list[PartialDate]:
    if not date.day_month_order_unknown:
        return [date]
    return [date, PartialDate(date.year, date.day, date.month, date.hour, date.minute, date.second)]


def _compare_parts(answer: PartialDate, source: PartialDate) -> Agreement:
    first, second = _parts(answer, DATE_PARTS), _parts(source, DATE_PARTS)
    shared = first.keys() & second.keys()
    if not shared:
        return Agreement.INCOMPARABLE
    if any(first[name] != second[name] for name in shared):
        return Agreement.DIFFERENT
    return Agreement.EQUAL if first.keys() == second.keys() else Agreement.APPROXIMATE


def _compare_year_spans(answer: Quantity, source: Quantity) -> Agreement:
    assert answer.low is not None
    assert answer.high is not None
    assert source.low is not None
    assert source.high is not None
    if answer.low == source.low and answer.high == source.high:
        return Agreement.EQUAL
    spans = (answer.date_end is not None, source.date_end is not None)
    if not answer.is_range and spans[1]:
        # A year of a span such as 1901-1904 agrees at the ends only: "in 1902" is not what the source says.
        return Agreement.APPROXIMATE if answer.low in (source.low, source.high) else Agreement.DIFFERENT
    if not source.is_range and spans[0]:
        return Agreement.APPROXIMATE if source.low in (answer.low, answer.high) else Agreement.DIFFERENT
    if not any(spans):
        # Decades and centuries: the wider one contains the narrower one.
        inside = (source.low >= answer.low and source.high <= answer.high) or (
            answer.is_range and answer.low >= source.low and answer.high <= source.high
        )
        return Agreement.APPROXIMATE if inside else Agreement.DIFFERENT
    if not all(spans):
        overlap = answer.low <= source.high and source.low <= answer.high
        return Agreement.APPROXIMATE if overlap else Agreement.DIFFERENT
    return Agreement.DIFFERENT


def _compare_year_with_span(answer: Quantity, source: Quantity) -> Agreement:
    span, other = (answer, source) if answer.date is None else (source, answer)
    year = other.date.year if other.date is not None else None
    if year is None or span.low is None or span.high is None:
        return Agreement.INCOMPARABLE
    if not span.low <= year <= span.high:
        return Agreement.DIFFERENT
    return Agreement.APPROXIMATE if span is answer else Agreement.DIFFERENT


def _compare_date_ranges(answer: Quantity, source: Quantity) -> Agreement:
    assert answer.date is not None
    assert source.date is not None
    if answer.date_end is not None and source.date_end is not None:
        ends = (
            _compare_partial(answer.date, source.date),
            _compare_partial(answer.date_end, source.date_end),
        )
        if Agreement.DIFFERENT in ends:
            return Agreement.DIFFERENT
        return Agreement.EQUAL if ends == (Agreement.EQUAL, Agreement.EQUAL) else Agreement.APPROXIMATE
    single, span = (answer, source) if answer.date_end is None else (source, answer)
    assert single.date is not None
    assert span.date is not None
    assert span.date_end is not None
    for end in (span.date, span.date_end):
        if _compare_partial(single.date, end) in (Agreement.EQUAL, Agreement.APPROXIMATE):
            return Agreement.APPROXIMATE
    return Agreement.DIFFERENT


def compare_times(answer: Quantity, source: Quantity) -> Agreement:
    """Compare two clock times or spans of them."""
    if answer.low is None or source.low is None:
        return Agreement.INCOMPARABLE
    if answer.date_end is None and source.date_end is None:
        return _compare_clock(answer.low, source.low, _half_day_open(answer, source))
    if answer.date_end is not None and source.date_end is not None:
        same = close(answer.low, source.low) and close(answer.high, source.high)
        return Agreement.EQUAL if same else Agreement.DIFFERENT
    single, span = (answer, source) if answer.date_end is None else (source, answer)
    ends = (span.low, span.high, (span.high or 0.0) - 24)
    return Agreement.APPROXIMATE if any(close(single.low, end) for end in ends) else Agreement.DIFFERENT


def _half_day_open(answer: Quantity, source: Quantity) -> bool:
    return any(quantity.date is not None and quantity.date.half_day_unknown for quantity in (answer, source))


def _compare_clock(first: float, second: float, half_day_open: bool) -> Agreement:
    if close(first % 24, second % 24):
        return Agreement.EQUAL
    if half_day_open and close(first % 12, second % 12):
        return Agreement.APPROXIMATE
    return Agreement.DIFFERENT


def compare_date_with_time(answer: Quantity, source: Quantity) -> Agreement:
    """Compare a timestamp with a clock time."""
    if answer.date is None or source.date is None or (answer.date.hour is None) != (source.date.hour is None):
        return Agreement.INCOMPARABLE
    same = (answer.date.hour, answer.date.minute or 0) == (source.date.hour, source.date.minute or 0)
    return Agreement.APPROXIMATE if same else Agreement.DIFFERENT


def compare_with_bare_number(answer: Quantity, source: Quantity) -> Agreement:
    """Compare a year or an hour with a number that says nothing about what it counts."""
    number, other = (answer, source) if answer.kind not in ("date", "time") else (source, answer)
    if number.kind != "number" or number.unit is not None or number.low is None:
        return Agreement.INCOMPARABLE
    if other.kind == "time":
        if other.low is None:
            return Agreement.INCOMPARABLE
        same = number.low <= 24 and close(number.low % 12, other.low % 12)
        return Agreement.EQUAL if same else Agreement.INCOMPARABLE
    if other.low is None or other.is_range or other.low < 0:
        return Agreement.INCOMPARABLE
    if close(number.low, other.low) or close(number.alternative, other.low):
        return Agreement.EQUAL
    # Four digits before a counted noun and a year look alike: only such numbers can be confused.
    return Agreement.DIFFERENT if 1000 <= number.low <= 2100 and number.decimals == 0 else Agreement.INCOMPARABLE


def date_conflict(answer: Quantity, source: Quantity) -> tuple[int, int]:
    """Return the offsets of the part of a date that differs: one part where only one does."""
    whole = (answer.start, answer.end)
    if answer.date is None or source.date is None:
        return whole if answer.date is None else _year_offsets(answer, whole)
    shadow = fold(answer.text)
    if (
        answer.date_end is not None
        and source.date_end is not None
        and answer.low is not None
        and source.low is not None
    ):
        return range_conflict(answer, source)
    if not re.search(r"[^\W\d_]", shadow) or answer.date_end is not None:
        return whole
    first, second = _parts(answer.date, DATE_PARTS), _parts(source.date, DATE_PARTS)
    wrong = [name for name in first.keys() & second.keys() if first[name] != second[name]]
    if len(wrong) != 1:
        return whole
    if wrong[0] == "month":
        months = lexicon().months
        for match in re.finditer(r"[^\W\d_][^\W\d_\s]*", shadow):
            if months.get(nfc(match.group())) == first["month"]:
                return answer.start + match.start(), answer.start + match.end()
    value = abs(first[wrong[0]])
    matches = [match for match in re.finditer(r"\d+", shadow) if int(match.group()) == value]
    if not matches:
        return whole
    match = matches[-1] if wrong[0] == "year" and shadow.find("年") < 0 else matches[0]
    return answer.start + match.start(), answer.start + match.end()


def _year_offsets(answer: Quantity, whole: tuple[int, int]) -> tuple[int, int]:
    year = answer.date.year if answer.date is not None else None
    for match in re.finditer(r"\d+", fold(answer.text)):
        if year is not None and int(match.group()) == abs(year):
            return answer.start + match.start(), answer.start + match.end()
    return whole


def range_conflict(answer: Quantity, source: Quantity) -> tuple[int, int]:
    """Return the one end of the answer's range that differs, where only one does."""
    begin, end = answer.value_start, answer.value_end
    runs = list(re.finditer(r"\d+(?:[.,' ]\d+)*", fold(answer.text[begin - answer.start : end - answer.start])))
    if len(runs) == 2:
        if close(answer.low, source.low) and not close(answer.high, source.high):
            return begin + runs[1].start(), end
        if close(answer.high, source.high) and not close(answer.low, source.low):
            return begin + runs[0].start(), begin + runs[0].end()
    return begin, end
