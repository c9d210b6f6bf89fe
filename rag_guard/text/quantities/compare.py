"""Whether a quantity of an answer agrees with a quantity of a document, and which part of it does not."""

from __future__ import annotations

import math
import re

from rag_guard.text.quantities import identifiers
from rag_guard.text.quantities.compare_moments import (
    DATE_PARTS,
    close,
    compare_date_with_time,
    compare_dates,
    compare_times,
    compare_with_bare_number,
    date_conflict,
    range_conflict,
)
from rag_guard.text.quantities.folding import fold
from rag_guard.text.quantities.model import Agreement, Quantity
from rag_guard.text.quantities.units import conversion

APPROXIMATION = 0.05
"""How far, relatively, an approximate amount may be from the exact one."""

_HAIR = 0.002
_UPPER = ("at_most", "less_than", "almost")
_LOWER = ("at_least", "more_than")
_CENT_CURRENCIES = ("USD", "EUR", "GBP", "AUD", "CAD", "NZD")


def compare(answer: Quantity, source: Quantity) -> Agreement:
    """Compare a quantity of the answer with one of a document.

    An approximation word of the answer is honoured (*almost 5,000* for 4,980, *over 2 million* for
    2,100,000); without one the answer may round decimals (3.14 for 3.14159) but not whole numbers.
    """
    kinds = {answer.kind, source.kind}
    if "identifier" in kinds or "ratio" in kinds:
        return _compare_codes(answer, source)
    if answer.kind == source.kind == "date":
        return compare_dates(answer, source)
    if answer.kind == source.kind == "time":
        return compare_times(answer, source)
    if kinds == {"date", "time"}:
        return compare_date_with_time(answer, source)
    if kinds == {"time", "measure"}:
        measure = answer if answer.kind == "measure" else source
        if measure.unit != "hour":
            return Agreement.INCOMPARABLE
        return Agreement.EQUAL if close(answer.low, source.low) else Agreement.DIFFERENT
    if "date" in kinds or "time" in kinds:
        return compare_with_bare_number(answer, source)
    return _compare_amounts(answer, source)


def adds_detail(answer: Quantity, source: Quantity) -> bool:
    """Whether the answer's date or time gives a part (a day, a month, a minute) that the source lacks."""
    if answer.date is None or source.date is None:
        return False
    return any(
        getattr(answer.date, part) is not None and getattr(source.date, part) is None
        for part in DATE_PARTS
        if not (part in ("minute", "second") and getattr(answer.date, part) == 0)
    )


def conflict_offsets(answer: Quantity, source: Quantity) -> tuple[int, int]:
    """Return the offsets of the smallest part of the answer's quantity that disagrees with the source."""
    if answer.kind == "date" and source.kind == "date":
        return date_conflict(answer, source)
    if answer.kind in ("identifier", "ratio", "time", "date"):
        if answer.kind == "time" and answer.unit_start is not None:
            return answer.value_start, answer.value_end
        return answer.start, answer.end
    if (
        answer.unit_start is not None
        and answer.unit_end is not None
        and source.unit is not None
        and answer.unit != source.unit
        and close(answer.low, source.low)
        and close(answer.high, source.high)
    ):
        return answer.unit_start, answer.unit_end
    if answer.modifier_start is not None and answer.modifier_end is not None and _same_value(answer, source):
        return answer.modifier_start, answer.modifier_end
    if answer.is_range and source.is_range:
        return range_conflict(answer, source)
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


def _same_value(answer: Quantity, source: Quantity) -> bool:
    factors = _unit_factor(answer, source)
    if factors is None or source.low is None or source.high is None:
        return False
    factor, offset = factors
    return close(answer.low, source.low * factor + offset) and close(answer.high, source.high * factor + offset)


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
    """Return (factor, offset) from the source's unit to the answer's, or ``None`` across units."""
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
            if first in codes and second in codes and (_is_generic(answer, words) or _is_generic(source, words)):
                return 1.0, 0.0
        return None
    if {first, second} == {"GBP", "pound"} or ("degree" in (first, second) and _is_temperature(first, second)):
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
    if answer.kind != source.kind and not {answer.kind, source.kind} <= {"number", "fraction"} and answer.unit is None:
        # An ordinal and a count agree when they are the same number and say nothing otherwise.
        return Agreement.EQUAL if close(answer.low, source.low) else Agreement.INCOMPARABLE
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
    assert quantity.low is not None
    assert quantity.high is not None
    values = [(quantity.low, quantity.high)]
    if quantity.alternative is not None:
        values.append((quantity.alternative, quantity.alternative))
    return values


def _compare_across_units(answer: Quantity, source: Quantity) -> Agreement:
    kinds = {answer.kind, source.kind}
    assert answer.low is not None
    assert source.low is not None
    if kinds <= {"percent", "fraction", "number"} and "percent" in kinds and len(kinds) == 2:
        percent, other = (answer, source) if answer.kind == "percent" else (source, answer)
        assert percent.low is not None
        assert other.low is not None
        if other.kind == "number" and not 0 <= other.low <= 1:
            return Agreement.APPROXIMATE if close(percent.low, other.low) else Agreement.INCOMPARABLE
        share = other.low * 100
        if close(percent.low, share):
            return Agreement.EQUAL
        if abs(percent.low - share) <= 0.5 * 10.0**-percent.decimals + 1e-9 or (
            answer.approximate and abs(percent.low - share) <= 5
        ):
            return Agreement.APPROXIMATE
        return Agreement.DIFFERENT if other.kind == "fraction" else Agreement.INCOMPARABLE
    if kinds == {"percent"}:
        same = close(answer.low, source.low) and {answer.unit, source.unit} == {
            "percent",
            "percentage_point",
        }
        return Agreement.APPROXIMATE if same else Agreement.DIFFERENT
    if kinds == {"money"}:
        return Agreement.DIFFERENT
    if answer.unit is None or source.unit is None:
        # A table or a JSON field often leaves its unit to the heading.
        same = close(answer.low, source.low) and close(answer.high, source.high) and "ordinal" not in kinds
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
    if close(value[0], truth[0]) and close(value[1], truth[1]):
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
    """Whether the answer drops decimals of the source: 3.14 for 3.14159, 67 for 67.4."""
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
    if abs(said - true) <= _HAIR * abs(true):
        return True  # no approximation word claims the side of so small a difference
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
        if value[0] in truth or any(close(value[0], end) for end in truth):
            return Agreement.APPROXIMATE
        if answer.approximate == "about" and truth[0] <= value[0] <= truth[1]:
            return Agreement.APPROXIMATE
        return Agreement.DIFFERENT
    if truth[0] == truth[1]:
        return Agreement.APPROXIMATE if value[0] <= truth[0] <= value[1] else Agreement.DIFFERENT
    return Agreement.DIFFERENT
