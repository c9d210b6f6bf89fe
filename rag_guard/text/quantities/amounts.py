"""Amounts: a number with its magnitude, sign, range, currency or unit."""

from __future__ import annotations

import re
from dataclasses import replace

import regex

from rag_guard.text.quantities import identifiers, numbers
from rag_guard.text.quantities.cursor import Cursor
from rag_guard.text.quantities.folding import nfc
from rag_guard.text.quantities.lexicon import CURRENCY_PREFIXES, CURRENCY_SIGNS, LETTER_SCALES, Unit, is_han
from rag_guard.text.quantities.model import Quantity
from rag_guard.text.quantities.numbers import Reading
from rag_guard.text.quantities.units import UnitMatch, conversion, find_unit, skip_gap

_RANGE = re.compile(r"(?: ?- ?| ?~ ?| (?:to|bis|à|a|al|till|tot|až|až do|do) |至|到|から)")
_BETWEEN_AND = re.compile(r" (?:and|und|et|y|e|och|en|og|ja|i|a) ")
_BETWEEN = re.compile(r"(?:between|zwischen|entre|tra|fra|mellan|tussen|mellem|välillä|mezi)(?: the)? ?[$€£¥]?\Z")
_ORDINAL = re.compile(r"(?:st|nd|rd|th|ste|er|ère|re|nde|nd|e|de|ème|eme|º|ª|\.º|\.ª|:a|:e|-й|-я|-го)(?![\w])")
_ORDINAL_DOT = re.compile(r"\.(?= [^\W\d_])")
_ORDINAL_BEFORE = frozenset("der die das den dem des am im vom zum zur ihr sein seine ihre".split())
_POWER_OF_TEN = re.compile(
    r" ?[x×·*] ?10(?:(?:\^|\*\*)([+-]?\d{1,3})|([⁺⁻]?[⁰¹²³⁴-⁹]+))(?!\d)|e([+-]?\d{1,3})(?![\w.])"
)
_POWER = re.compile(r"\^([+-]?\d{1,3})(?!\d)|([⁺⁻]?[⁰¹²³⁴-⁹]+)")
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_MIXED_FRACTION = re.compile(r" (\d{1,2})[/⁄](\d{1,2})(?![\d/])")
_INFLECTION = re.compile(
    r"(?:eko|ean|ko|an|en|ra|tik|raino|era|etik|aren|etan|ren|:n|:ssä|:ssa|:een|:stä|"
    r"'[a-zäıiueo]{1,4}|-[bt][ae]n|-ig)(?![\w])"
)
_SIGN_BEFORE = re.compile(r"(?:(?<![^\s(\[:=,;/$€£])-|minus )\Z")
_HAN_PART = re.compile(r"\d{1,4}(?!\d)")
_WORD = regex.compile(r"[\p{L}\p{M}]+")
_SCALE_TAIL = regex.compile(r" d'| (?:[\p{L}\p{M}]+)(?: de(?!\w))?")
_MONEY_BEFORE = re.compile(r"[$€£¥] ?[\d.,]+\Z")
_FACTOR = re.compile(r"x(?![^\W\d_])")
_NEXT_PART = re.compile(r",? (?:and |und |et |y |e |och )?(?=\d)")
_INCHES = re.compile(r" in(?!\w)")
_SIGN = re.compile(r"[$€£¥]")


class AmountReader(Cursor):
    """Reads numbers with their magnitude, sign, range, currency or unit."""

    def _value(self, reading: Reading) -> None:
        shadow = self.shadow
        start, end = reading.start, reading.end
        mixed = _MIXED_FRACTION.match(shadow, end) if reading.plain else None
        vulgar = numbers.VULGAR.get(shadow[end : end + 1]) or (
            numbers.VULGAR.get(shadow[end + 1 : end + 2]) if shadow[end : end + 1] == " " else None
        )
        if mixed is not None and 0 < int(mixed.group(1)) < int(mixed.group(2)):
            end = mixed.end()
            reading = Reading(start, end, reading.value + int(mixed.group(1)) / int(mixed.group(2)), None, 3)
        elif vulgar is not None and reading.plain:
            end += 1 if shadow[end] in numbers.VULGAR else 2
            reading = Reading(start, end, reading.value + vulgar, None, 3)
        power = _POWER_OF_TEN.match(shadow, end)
        if power is not None:
            exponent = next(group for group in power.groups() if group)
            scale = _power(10.0, int(exponent.translate(_SUPERSCRIPT)))
            self._complete(replace(reading, alternative=None), start, power.end(), scale, "number")
            return
        raised = _POWER.match(shadow, end) if reading.plain and reading.value == 10 else None
        if raised is not None:
            exponent = next(group for group in raised.groups() if group)
            value = _power(10.0, int(exponent.translate(_SUPERSCRIPT)))
            self._complete(Reading(start, raised.end(), value), start, raised.end(), 1.0, "number")
            return
        ordinal = _ORDINAL.match(shadow, end) if reading.plain else None
        if ordinal is None and reading.plain and end - start <= 2 and _ORDINAL_DOT.match(shadow, end):
            before = shadow[max(0, start - 8) : start].split()
            if before and before[-1] in _ORDINAL_BEFORE:
                ordinal = _ORDINAL_DOT.match(shadow, end)
        if ordinal is not None:
            self._emit(self._make(start, ordinal.end(), "ordinal", reading.value, value=(start, end)))
            return
        if reading.plain and shadow[start - 1 : start] == "第" and start:
            self._emit(self._make(start - 1, end, "ordinal", reading.value, value=(start, end)))
            return
        scale, end = self._scale(end)
        if scale != 1.0 and end < len(shadow) and shadow[end].isdigit() and is_han(shadow[end - 1]):
            reading, scale, end = self._mixed_han(reading, scale, end)
        self._complete(reading, start, end, scale, "number")

    def _mixed_han(self, reading: Reading, scale: float, end: int) -> tuple[Reading, float, int]:
        """Read 1億2000万: parts of falling magnitude that add up."""
        total, last = reading.value * scale, scale
        while end < len(self.shadow):
            run = _HAN_PART.match(self.shadow, end)
            if run is None:
                break
            step, after = self._scale(run.end())
            if step >= last:
                break
            total, last, end = total + float(run.group()) * step, step, after
            if step == 1.0:
                break
        return Reading(reading.start, end, total / last, None, 0), last, end

    def _scale(self, end: int) -> tuple[float, int]:
        """Return the magnitude written after a number and the end of its text."""
        shadow, scale = self.shadow, 1.0
        while end < len(shadow):
            if is_han(shadow[end]):
                sizes = (2, 1) if end + 1 < len(shadow) else (1,)
                length = next((size for size in sizes if shadow[end : end + size] in self.lex.han_scales), 0)
                if not length:
                    break
                scale, end = scale * self.lex.han_scales[shadow[end : end + length]], end + length
                continue
            position, separated = skip_gap(shadow, end)
            word = _WORD.match(shadow, position)
            if word is None:
                break
            key = nfc(word.group())
            stop = word.end()
            factor = self.lex.scales.get(key)
            if factor is not None:
                longer = _SCALE_TAIL.match(shadow, stop)
                if longer is not None:
                    phrase = nfc(key + longer.group())
                    if phrase in self.lex.scales:
                        factor, stop = self.lex.scales[phrase], longer.end()
                if (
                    stop == word.end()
                    and len(key) <= 4
                    and key + "." in self.lex.scales
                    and shadow.startswith(".", stop)
                ):
                    stop += 1
                if not separated and len(key) <= 2 and scale == 1.0:
                    return factor, stop
                scale, end = scale * factor, stop
                if key == "mil" and not separated:
                    break
                continue
            if scale == 1.0 and position == end:
                written = self.text[position:stop]
                if written in LETTER_SCALES and (written != "mm"):
                    return LETTER_SCALES[written], stop
                if written in ("m", "b", "k", "mm", "t") and self._prefix_currency_before(end):
                    return {"m": 1e6, "b": 1e9, "k": 1e3, "mm": 1e6, "t": 1e12}[written], stop
            break
        return scale, end

    def _prefix_currency_before(self, end: int) -> bool:
        match = _MONEY_BEFORE.search(self.shadow, max(0, end - 16), end)
        return match is not None

    def _prefix_currency(self, start: int) -> tuple[int, int, Unit] | None:
        """Return (start, end, unit) of a currency sign or code that stands right before ``start``."""
        shadow = self.shadow
        end = start
        while end > self.position and shadow[end - 1] in "*_`" and start - end < 6:
            end -= 1
        if end > self.position and shadow[end - 1] == " ":
            end -= 1
        if end <= self.position:
            return None
        if shadow[end - 1] == "-" and end - 1 > self.position and shadow[end - 2] in CURRENCY_SIGNS:
            end -= 1
        char = shadow[end - 1]
        if char not in CURRENCY_SIGNS and not char.isalpha() and char != ".":
            return None
        begin = end - 1
        while begin > max(self.position, end - 6) and (shadow[begin - 1].isalpha() or shadow[begin - 1] == "."):
            begin -= 1
        token = shadow[begin:end]
        if char in CURRENCY_SIGNS:
            if token in CURRENCY_PREFIXES:
                return begin, end, Unit(CURRENCY_PREFIXES[token], "money")
            return end - 1, end, Unit(CURRENCY_SIGNS[char], "money")
        if begin and (shadow[begin - 1].isalnum() or shadow[begin - 1] in "-_"):
            return None
        if token in CURRENCY_PREFIXES:
            return begin, end, Unit(CURRENCY_PREFIXES[token], "money")
        code = self.lex.codes.get(self.text[begin:end])
        return (begin, end, code) if code is not None else None

    def _complete(self, reading: Reading, start: int, end: int, scale: float, kind: str) -> None:
        """Attach sign, range, percent, currency or unit to a number and emit it."""
        shadow = self.shadow
        low = reading.value * scale
        value_start = start
        alternative = reading.alternative * scale if reading.alternative is not None else None
        prefix = self._prefix_currency(start)
        begin = prefix[0] if prefix else start
        sign = _SIGN_BEFORE.search(shadow, max(self.position, begin - 6), begin)
        if sign is None and prefix is not None and shadow[start - 1] == "-" and start > self.position:
            low = -low
        elif sign is not None and sign.start() >= self.position:
            low, begin = -low, sign.start()
            alternative = -alternative if alternative is not None else None
            if prefix is None:
                value_start = begin
        high, decimals, first_scale = low, reading.decimals, scale
        unit = find_unit(self.text, shadow, end, self.lex, self.language)
        if unit is None and shadow[end : end + 1] == "+":
            unit = find_unit(self.text, shadow, end + 1, self.lex, self.language)
        value_end = end
        second = self._range_end(start, end if unit is None else unit.end)
        if second is not None and second[0].value * second[1] >= low:
            upper, upper_scale, upper_end, upper_unit = second
            if unit is None or (upper_unit is not None and upper_unit.unit.name == unit.unit.name):
                if scale == 1.0 and upper_scale != 1.0 and low < upper.value:
                    low, scale = low * upper_scale, upper_scale
                high, value_end, unit = upper.value * upper_scale, upper_end, upper_unit
                decimals, alternative = max(decimals, upper.decimals), None
                first_scale = upper_scale
        percent_before = None
        if (
            unit is None
            and prefix is None
            and begin
            and shadow[begin - 1] == "%"
            and not shadow[begin - 2 : begin - 1].isalnum()
            and begin - 1 >= self.position
        ):
            percent_before = UnitMatch(begin - 1, begin, Unit("percent", "percent"))
            begin -= 1
        if (unit is None and prefix is not None) or (
            unit is not None and prefix is not None and unit.unit.kind != "money"
        ):
            unit = UnitMatch(prefix[0], prefix[1], prefix[2])
        unit = unit or percent_before
        finish = value_end
        if unit is not None:
            kind = unit.unit.kind
            finish = max(value_end, unit.end)
            begin = min(begin, unit.start)
        else:
            tail = self._attached_letters(value_end)
            if tail is not None:
                self._identifier_to(begin if shadow[begin : begin + 1] != "-" else start, tail)
                return
        begin = max(begin, self.position)
        quantity = self._make(
            begin, finish, kind, low, high, value=(value_start, value_end),
            unit=unit.unit.name if unit else None,
            unit_start=unit.start if unit else None, unit_end=unit.end if unit else None,
            decimals=decimals, scale=first_scale, alternative=alternative,
        )  # fmt: skip
        if unit is not None and unit.unit.dimension in ("length", "duration", "mass") and low == high:
            quantity = self._compound(quantity, unit.unit)
        self._emit(quantity)

    def _attached_letters(self, end: int) -> int | None:
        """Return the end of a code such as ``3D`` or ``4x4`` whose letters are no unit."""
        char = self.shadow[end : end + 1]
        if not (char.isascii() and char.isalpha()) or _INFLECTION.match(self.shadow, end):
            return None
        if _FACTOR.match(self.shadow, end) or is_han(char):
            return None
        return identifiers.extend_right(self.shadow, end)

    def _compound(self, quantity: Quantity, unit: Unit) -> Quantity:
        """Add smaller parts of the same dimension: ``5 ft 10 in``, ``1 hour and 30 minutes``."""

        for _ in range(3):
            match = _NEXT_PART.match(self.shadow, quantity.end)
            run = numbers.NUMBER_RUN.match(self.shadow, match.end()) if match else None
            if run is None:
                break
            readings = numbers.read_run(run.group(), run.start(), self.language)
            if readings is None or len(readings) != 1:
                break
            part = find_unit(self.text, self.shadow, run.end(), self.lex, self.language)
            inches = _INCHES.match(self.shadow, run.end()) if part is None and quantity.unit == "foot" else None
            if inches is not None:
                part = UnitMatch(inches.start() + 1, inches.end(), Unit("inch", "measure", "length"))
            if part is None or part.unit.dimension != unit.dimension or part.unit.name == quantity.unit:
                break
            factor = conversion(part.unit.name, unit.name)
            if factor is None or factor[0] >= 1 or quantity.low is None:
                break
            low = quantity.low + readings[0].value * factor[0]
            quantity = replace(
                quantity, end=part.end, text=self.text[quantity.start : part.end], low=low, high=low,
                value_end=run.end(), decimals=3,
            )  # fmt: skip
        return quantity

    def _range_end(self, start: int, end: int) -> tuple[Reading, float, int, UnitMatch | None] | None:
        """Return (number, scale, end, unit) of the upper end of a range whose lower end stops at ``end``."""
        shadow = self.shadow
        match = _RANGE.match(shadow, end)
        if match is None:
            match = _BETWEEN_AND.match(shadow, end)
            if match is None or not _BETWEEN.search(shadow, max(0, start - 20), start):
                return None
        position = match.end()
        sign = _SIGN.match(shadow, position)
        if sign is not None:
            position = sign.end()
        run = numbers.NUMBER_RUN.match(shadow, position)
        if run is None:
            return None
        if match.group() == "-" and shadow[run.end() : run.end() + 1] == "-":
            return None
        readings = numbers.read_run(run.group(), position, self.language)
        if readings is None or len(readings) != 1:
            return None
        after = shadow[run.end() : run.end() + 1]
        if after in ":/" and after and shadow[run.end() + 1 : run.end() + 2].isdigit():
            return None
        scale, stop = self._scale(run.end())
        return readings[0], scale, stop, find_unit(self.text, shadow, stop, self.lex, self.language)


def _power(base: float, exponent: int) -> float:
    try:
        return float(base**exponent)
    except OverflowError:
        return float("inf")
