"""Whether a quantity of an answer agrees with a quantity of a document, and which part of it does not."""

from __future__ import annotations

import math
import re

from rag_guard.text.quantities import identifiers
from rag_guard.text.quantities.folding import fold, nfc
from rag_guard.text.quantities.lexicon import lexicon
from rag_guard.text.quantities.model import Agreement, PartialDate, Quantity
from rag_guard.text.quantities.units import conversion

APPROXIMATION = 0.05
"""How far, relatively, an approximate amount may be from the exact one."""

_RELATIVE_EQUALITY = 1e-6
_NUMERIC = ("number", "percent", "money", "measure", "fraction", "ordinal")
_PARTS = ("year", "month", "day", "hour", "minute", "second")
_UPPER = ("at_most", "less_than", "almost")
_LOWER = ("at_least", "more_than")
_CENT_CURRENCIES = ("USD", "EUR", "GBP", "AUD", "CAD", "NZD")


def compare(answer: Quantity, source: Quantity) -> Agreement:
    """Compare a quantity of the answer with one of a document.

    An approximation word of the answer is honoured (*almost 5,000* for 4,980, *over 2 million* for 2,100,000);
    without one the answer may round decimals (3.14 for 3.14159) but not whole numbers.
    """
    kinds = {answer.kind, source.kind}
    if "identifier" in kinds or "ratio" in kinds:
        return _compare_codes(answer, source)
    if answer.kind == source.kind == "date":
        return _compare_dates(answer, source)
    if answer.kind == source.kind == "time":
        return _compare_times(answer, source)
    if kinds == {"date", "time"}:
        return _compare_date_with_time(answer, source)
    if kinds == {"time", "measure"}:
        measure = answer if answer.kind == "measure" else source
        if measure.unit != "hour":
            return Agreement.INCOMPARABLE
        return Agreement.EQUAL if _close(answer.low, source.low) else Agreement.DIFFERENT
    if "date" in kinds or "time" in kinds:
        return _compare_with_bare_number(answer, source)
    return _compare_amounts(answer, source)


def adds_detail(answer: Quantity, source: Quantity) -> bool:
    """Whether the answer's date or time gives a part (a day, a month, a minute) that the source's does not."""
    if answer.date is None or source.date is None:
        return False
    return any(
        getattr(answer.date, part) is not None and getattr(source.date, part) is None
        for part in _PARTS
        if not (part in ("minute", "second") and getattr(answer.date, part) == 0)
    )


def conflict_offsets(answer: Quantity, source: Quantity) -> tuple[int, int]:
    """Return the offsets of the smallest part of the answer's quantity that disagrees with the source."""
    if answer.kind == "date" and source.kind == "date":
        return _date_conflict(answer, source)
    if answer.kind in ("identifier", "ratio", "time", "date"):
        if answer.kind == "time" and answer.unit_start is not None:
            return answer.value_start, answer.value_end
        return answer.start, answer.end
    if (
        answer.unit_start is not None
        and answer.unit_end is not None
        and source.unit is not None
        and answer.unit != source.unit
        and _close(answer.low, source.low)
        and _close(answer.high, source.high)
    ):
        return answer.unit_start, answer.unit_end
    if answer.modifier_start is not None and answer.modifier_end is not None and _same_value(answer, source):
        return answer.modifier_start, answer.modifier_end
    if answer.is_range and source.is_range:
        return _range_conflict(answer, source)
    return answer.value_start, answer.value_end


# Codes


def _compare_codes(answer: Quantity, source: Quantity) -> Agreement:
    first, second = identifiers.canonical(_plain(answer.text)), identifiers.canonical(_plain(source.text))
    if answer.kind == "ratio" or source.kind == "ratio":
        first, second = first.replace(":", "-"), second.replace(":", "-")
        first, second = re.sub(r"\D+", "-", _plain(answer.text)), re.sub(r"\D+", "-", _plain(source.text))
        if first == second:
            return Agreement.EQUAL
        return Agreement.DIFFERENT if answer.kind == source.kind else Agreement.INCOMPARABLE
    if first == second:
        return Agreement.EQUAL
    if answer.kind != source.kind:
        return Agreement.INCOMPARABLE
    if _digits(first) == _digits(second) and _is_phone(answer.text) and _is_phone(source.text):
        return Agreement.EQUAL
    letters = tuple(re.sub(r"[\d.:/]+", "0", code) for code in (first, second))
    shapes = tuple(re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", code)) for code in (first, second))
    comparable = letters[0] == letters[1] or shapes[0] == shapes[1]
    return Agreement.DIFFERENT if comparable else Agreement.INCOMPARABLE


def _plain(text: str) -> str:
    return fold(text).replace("*", "").replace("`", "")


def _digits(code: str) -> str:
    return re.sub(r"\D", "", code)


def _is_phone(text: str) -> bool:
    return len(_digits(fold(text))) >= 7 and not re.search(r"[^\W\d_]", text)


# Dates and times


def _parts(date: PartialDate, names: tuple[str, ...]) -> dict[str, int]:
    return {name: value for name in names if (value := getattr(date, name)) is not None}


def _compare_dates(answer: Quantity, source: Quantity) -> Agreement:
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
    first, second = _parts(answer, _PARTS), _parts(source, _PARTS)
    shared = first.keys() & second.keys()
    if not shared:
        return Agreement.INCOMPARABLE
    if any(first[name] != second[name] for name in shared):
        return Agreement.DIFFERENT
    return Agreement.EQUAL if first.keys() == second.keys() else Agreement.APPROXIMATE


def _compare_year_spans(answer: Quantity, source: Quantity) -> Agreement:
    assert (
        answer.low is not None
        and answer.high is not None
        and source.low is not None
        and source.high is not None
    )
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
    assert answer.date is not None and source.date is not None
    if answer.date_end is not None and source.date_end is not None:
        ends = (
            _compare_partial(answer.date, source.date),
            _compare_partial(answer.date_end, source.date_end),
        )
        if Agreement.DIFFERENT in ends:
            return Agreement.DIFFERENT
        return Agreement.EQUAL if ends == (Agreement.EQUAL, Agreement.EQUAL) else Agreement.APPROXIMATE
    single, span = (answer, source) if answer.date_end is None else (source, answer)
    assert single.date is not None and span.date is not None and span.date_end is not None
    for end in (span.date, span.date_end):
        if _compare_partial(single.date, end) in (Agreement.EQUAL, Agreement.APPROXIMATE):
            return Agreement.APPROXIMATE
    return Agreement.DIFFERENT


def _compare_times(answer: Quantity, source: Quantity) -> Agreement:
    if answer.low is None or source.low is None:
        return Agreement.INCOMPARABLE
    if answer.date_end is None and source.date_end is None:
        return _compare_clock(answer.low, source.low, _half_day_open(answer, source))
    if answer.date_end is not None and source.date_end is not None:
        same = _close(answer.low, source.low) and _close(answer.high, source.high)
        return Agreement.EQUAL if same else Agreement.DIFFERENT
    single, span = (answer, source) if answer.date_end is None else (source, answer)
    ends = (span.low, span.high, (span.high or 0.0) - 24)
    return Agreement.APPROXIMATE if any(_close(single.low, end) for end in ends) else Agreement.DIFFERENT


def _half_day_open(answer: Quantity, source: Quantity) -> bool:
    return any(quantity.date is not None and quantity.date.half_day_unknown for quantity in (answer, source))


def _compare_clock(first: float, second: float, half_day_open: bool) -> Agreement:
    if _close(first % 24, second % 24):
        return Agreement.EQUAL
    if half_day_open and _close(first % 12, second % 12):
        return Agreement.APPROXIMATE
    return Agreement.DIFFERENT


def _compare_date_with_time(answer: Quantity, source: Quantity) -> Agreement:
    if answer.date is None or source.date is None or (answer.date.hour is None) != (source.date.hour is None):
        return Agreement.INCOMPARABLE
    same = (answer.date.hour, answer.date.minute or 0) == (source.date.hour, source.date.minute or 0)
    return Agreement.APPROXIMATE if same else Agreement.DIFFERENT


def _compare_with_bare_number(answer: Quantity, source: Quantity) -> Agreement:
    """Compare a year or an hour with a number that says nothing about what it counts."""
    number, other = (answer, source) if answer.kind in _NUMERIC else (source, answer)
    if number.kind != "number" or number.unit is not None or number.low is None:
        return Agreement.INCOMPARABLE
    if other.kind == "time":
        if other.low is None:
            return Agreement.INCOMPARABLE
        same = number.low <= 24 and _close(number.low % 12, other.low % 12)
        return Agreement.EQUAL if same else Agreement.INCOMPARABLE
    if other.low is None or other.is_range or other.low < 0:
        return Agreement.INCOMPARABLE
    if _close(number.low, other.low) or _close(number.alternative, other.low):
        return Agreement.EQUAL
    # Four digits before a counted noun and a year look alike: only such numbers can be confused.
    return (
        Agreement.DIFFERENT if 1000 <= number.low <= 2100 and number.decimals == 0 else Agreement.INCOMPARABLE
    )


def _date_conflict(answer: Quantity, source: Quantity) -> tuple[int, int]:
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
        return _range_conflict(answer, source)
    if not re.search(r"[^\W\d_]", shadow) or answer.date_end is not None:
        return whole
    first, second = _parts(answer.date, _PARTS), _parts(source.date, _PARTS)
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


def _range_conflict(answer: Quantity, source: Quantity) -> tuple[int, int]:
    """Return the one end of the answer's range that differs, where only one does."""
    begin, end = answer.value_start, answer.value_end
    runs = list(
        re.finditer(r"\d+(?:[.,' ]\d+)*", fold(answer.text[begin - answer.start : end - answer.start]))
    )
    if len(runs) == 2:
        if _close(answer.low, source.low) and not _close(answer.high, source.high):
            return begin + runs[1].start(), end
        if _close(answer.high, source.high) and not _close(answer.low, source.low):
            return begin + runs[0].start(), begin + runs[0].end()
    return begin, end


# Amounts


def _close(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return False
    return first == second or math.isclose(first, second, rel_tol=_RELATIVE_EQUALITY, abs_tol=1e-12)


def _same_value(answer: Quantity, source: Quantity) -> bool:
    factors = _unit_factor(answer, source)
    if factors is None or source.low is None or source.high is None:
        return False
    factor, offset = factors
    return _close(answer.low, source.low * factor + offset) and _close(
        answer.high, source.high * factor + offset
    )


def _is_generic(quantity: Quantity, words: tuple[str, ...]) -> bool:
    written = quantity.unit_text
    return written is not None and fold(written) in words


_GENERIC_DOLLAR = ("$", "dollar", "dollars", "dólar", "dólares")
_GENERIC_CROWN = ("kr", "kr.", "krona", "kronor", "kronen", "kroner", "koruna")
_GENERIC_YEN = ("¥",)
_GENERIC_CURRENCIES = (
    (_GENERIC_DOLLAR, ("USD", "CAD", "AUD", "NZD", "HKD", "SGD", "TWD", "MXN")),
    (_GENERIC_CROWN, ("SEK", "NOK", "DKK", "CZK", "ISK")),
    (_GENERIC_YEN, ("JPY", "CNY")),
    (("franc", "francs"), ("FRF", "CHF", "XAF", "BEF")),
    (("rs", "rs.", "rupees", "rupee"), ("INR", "PKR", "LKR")),
    (("peso", "pesos"), ("MXN", "CLP", "COP", "ARS", "PHP", "UYU")),
)


def _unit_factor(answer: Quantity, source: Quantity) -> tuple[float, float] | None:
    """Return (factor, offset) that turns the source's value into the answer's unit, or ``None`` across units."""
    first, second = answer.unit, source.unit
    if first == second:
        return 1.0, 0.0
    if first is None or second is None:
        return None
    if answer.kind == source.kind == "money":
        if first == "cent" and second in _CENT_CURRENCIES:
            return 100.0, 0.0
        if second == "cent" and first in _CENT_CURRENCIES:
            return 0.01, 0.0
        for words, codes in _GENERIC_CURRENCIES:
            if (
                first in codes
                and second in codes
                and (_is_generic(answer, words) or _is_generic(source, words))
            ):
                return 1.0, 0.0
        return None
    if {first, second} == {"GBP", "pound"} or (
        "degree" in (first, second) and _is_temperature(first, second)
    ):
        return 1.0, 0.0
    if {first, second} <= {"short_ton", "metric_ton", "long_ton"} and "ton" in (
        answer.unit_text,
        source.unit_text,
    ):
        return 1.0, 0.0
    return conversion(second, first)


def _is_temperature(first: str, second: str) -> bool:
    return any(name.startswith("degree_") for name in (first, second))


def _compare_amounts(answer: Quantity, source: Quantity) -> Agreement:
    if answer.low is None or source.low is None or answer.high is None or source.high is None:
        return Agreement.INCOMPARABLE
    factors = _unit_factor(answer, source)
    if factors is None:
        return _compare_across_units(answer, source)
    factor, offset = factors
    if (
        answer.kind != source.kind
        and not {answer.kind, source.kind} <= {"number", "fraction"}
        and answer.unit is None
    ):
        # An ordinal and a count agree when they are the same number and say nothing otherwise.
        return Agreement.EQUAL if _close(answer.low, source.low) else Agreement.INCOMPARABLE
    best = Agreement.DIFFERENT
    for source_value in _values(source):
        for answer_value in _values(answer):
            low, high = (end * factor + offset for end in source_value)
            agreement = _compare_values(answer, source, answer_value, (low, high), converted=factor != 1.0)
            if agreement is Agreement.EQUAL:
                return agreement
            if agreement is Agreement.APPROXIMATE:
                best = agreement
    return best


def _values(quantity: Quantity) -> list[tuple[float, float]]:
    assert quantity.low is not None and quantity.high is not None
    values = [(quantity.low, quantity.high)]
    if quantity.alternative is not None:
        values.append((quantity.alternative, quantity.alternative))
    return values


def _compare_across_units(answer: Quantity, source: Quantity) -> Agreement:
    kinds = {answer.kind, source.kind}
    assert answer.low is not None and source.low is not None
    if kinds <= {"percent", "fraction", "number"} and "percent" in kinds and len(kinds) == 2:
        percent, other = (answer, source) if answer.kind == "percent" else (source, answer)
        assert percent.low is not None and other.low is not None
        if other.kind == "number" and not 0 <= other.low <= 1:
            return Agreement.APPROXIMATE if _close(percent.low, other.low) else Agreement.INCOMPARABLE
        share = other.low * 100
        if _close(percent.low, share):
            return Agreement.EQUAL
        if abs(percent.low - share) <= 0.5 * 10.0**-percent.decimals + 1e-9 or (
            answer.approximate and abs(percent.low - share) <= 5
        ):
            return Agreement.APPROXIMATE
        return Agreement.DIFFERENT if other.kind == "fraction" else Agreement.INCOMPARABLE
    if kinds == {"percent"}:
        same = _close(answer.low, source.low) and {answer.unit, source.unit} == {
            "percent",
            "percentage_point",
        }
        return Agreement.APPROXIMATE if same else Agreement.DIFFERENT
    if kinds == {"money"}:
        return Agreement.DIFFERENT
    if answer.unit is None or source.unit is None:
        # A table or a JSON field often leaves its unit to the heading.
        same = _close(answer.low, source.low) and _close(answer.high, source.high) and "ordinal" not in kinds
        return Agreement.APPROXIMATE if same else Agreement.INCOMPARABLE
    return Agreement.INCOMPARABLE


def _compare_values(
    answer: Quantity,
    source: Quantity,
    value: tuple[float, float],
    truth: tuple[float, float],
    *,
    converted: bool,
) -> Agreement:
    if _close(value[0], truth[0]) and _close(value[1], truth[1]):
        if _opposed(answer.approximate, source.approximate):
            return Agreement.DIFFERENT
        return Agreement.EQUAL
    if value[0] < value[1] or truth[0] < truth[1]:
        return _compare_ranges(answer, value, truth)
    said, true = value[0], truth[0]
    if answer.approximate is not None:
        return Agreement.APPROXIMATE if _within_modifier(answer, source, said, true) else Agreement.DIFFERENT
    if converted and math.isclose(said, true, rel_tol=0.01) and said != round(true, 6):
        rounded = abs(said - true) <= 0.5 * answer.scale * 10.0**-answer.decimals * (1 + 1e-9)
        return Agreement.APPROXIMATE if rounded else Agreement.DIFFERENT
    return Agreement.APPROXIMATE if _is_rounding(answer, source, said, true) else Agreement.DIFFERENT


def _opposed(first: str | None, second: str | None) -> bool:
    return (first in _UPPER and second in _LOWER) or (first in _LOWER and second in _UPPER)


def _is_rounding(answer: Quantity, source: Quantity, said: float, true: float) -> bool:
    """Whether the answer drops decimals of the source: 3.14 for 3.14159, 67 for 67.4, 2.5 million for 2,487,000."""
    step = answer.scale * 10.0**-answer.decimals
    finer = source.scale * 10.0**-source.decimals
    if finer >= step or (answer.decimals == 0 and answer.scale == 1.0 and source.decimals == 0):
        return False
    if abs(said - true) > 0.5 * step * (1 + 1e-9):
        return False
    # 4 for 3.5 is no rounding of the same measurement; 67 for 67.4 is.
    return answer.decimals > 0 or abs(said - true) <= APPROXIMATION * abs(true)


def _within_modifier(answer: Quantity, source: Quantity, said: float, true: float) -> bool:
    near = abs(said - true) <= APPROXIMATION * abs(true) + 1e-12
    if answer.approximate == "about":
        return near or _is_rounding(answer, source, said, true)
    if answer.approximate == "almost":
        return true <= said and (near or _is_rounding(answer, source, said, true))
    room = max(0.25 * abs(said), _leading_unit(said))
    if answer.approximate in _LOWER:
        return said <= true <= said + room
    return said - room <= true <= said


def _leading_unit(value: float) -> float:
    """Return the magnitude of the last non-zero digit: 1e6 for 2,000,000, 10 for 150."""
    if value == 0 or math.isinf(value):
        return 0.0
    unit = 10.0 ** math.floor(math.log10(abs(value)))
    for _ in range(15):
        if math.isclose(value / unit, round(value / unit), abs_tol=1e-9):
            return float(unit)
        unit /= 10
    return float(unit)


def _compare_ranges(answer: Quantity, value: tuple[float, float], truth: tuple[float, float]) -> Agreement:
    if value[0] == value[1]:
        if value[0] in truth or any(_close(value[0], end) for end in truth):
            return Agreement.APPROXIMATE
        if answer.approximate == "about" and truth[0] <= value[0] <= truth[1]:
            return Agreement.APPROXIMATE
        return Agreement.DIFFERENT
    if truth[0] == truth[1]:
        return Agreement.APPROXIMATE if value[0] <= truth[0] <= value[1] else Agreement.DIFFERENT
    return Agreement.DIFFERENT
