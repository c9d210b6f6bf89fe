"""Dates, years, decades, centuries and clock times at a reading position."""

from __future__ import annotations

import re
from dataclasses import replace

from rag_guard.text.quantities import dates
from rag_guard.text.quantities.amounts import AmountReader
from rag_guard.text.quantities.folding import nfc
from rag_guard.text.quantities.lexicon import is_han
from rag_guard.text.quantities.model import PartialDate, Quantity
from rag_guard.text.quantities.units import find_unit

_RANGE = re.compile(r"(?: ?- ?| ?~ ?| (?:to|bis|à|a|al|till|tot|až|až do|do) |至|到|から)")
_BETWEEN_AND = re.compile(r" (?:and|und|et|y|e|och|en|og|ja|i|a) ")
_BETWEEN = re.compile(r"(?:between|zwischen|entre|tra|fra|mellan|tussen|mellem|välillä|mezi)(?: the)? ?[$€£¥]?\Z")
_SHORT_YEAR = re.compile(r"[-/](\d{2})(?![\d\w/-])")
_DECADE = re.compile(r"'?s(?!\w)|er(?:-?jahre)?(?!\w)|-?luku|(?:年代)|-tal")
_CENTURY = re.compile(
    r"(?:st|nd|rd|th|\.|e|er)?[ -](?:century|centuries|jahrhunderts?|siècle|århundradet)(?!\w)|世[紀纪]|세기"
)
_CENTURY_BEFORE_WORD = re.compile(r"(?:siglo|secolo|século|segle) \Z")
_INFLECTION = re.compile(
    r"(?:eko|ean|ko|an|en|ra|tik|raino|era|etik|aren|etan|ren|:n|:ssä|:ssa|:een|:stä|"
    r"'[a-zäıiueo]{1,4}|-[bt][ae]n|-ig)(?![\w])"
)
_YEAR_LEFT = frozenset(
    "in since by from until till of to year years during circa ca around about before after "
    "between early late mid and through fall spring summer winter autumn the a "
    "his her its their this that en im seit bis um jahr jahre jahres ab vor nach depuis "
    "avant après vers année l'an an desde hasta año ano anno nel dal del al em até desde "
    "v roce od do år sedan från till vuonna vuoden vuodesta urtean سنة عام في منذ سال در में सन्".split()
)
_COUNTED = re.compile(r" ?(?:\*\*)? ?([^\W\d_]{3,})")
_NOT_COUNTED = frozenset(
    "and the was when were with for but that after had has who which under during from until "
    "wurde und als war von mit bis après avec pour jusqu por para con cuando fue che per "
    "och var med som til och where while because his her its their they she".split()
)
_HOUR_CONTEXT = re.compile(r"(?:^|[\s'])(?:à|dès|vers|jusqu'à|et|a|às|alle|um|gegen|ab|kl|klo|los|las|les)\Z")
_SHORT_RUN = re.compile(r"\d{1,4}(?![\d])")
_AD_BEFORE = re.compile(r"(?<![^\W\d_])(?:ad|a\.d\.) \Z")
_LONG_DENOMINATOR = re.compile(r"/(?:\d{1}(?!\d)|\d{3})")
_MERIDIEM_END = re.compile(r"[ap]\.? ?m\.?\Z")
_EVENING_END = re.compile(r"p\.? ?m\.?\Z")
_FOUR_DIGITS = re.compile(r"\d{4}(?!\d|[.,]\d)")
_ONE_DIGIT_MINUTE = re.compile(r"\d{1,2}:(\d)(?!\d)")
_HOUR_DASH = re.compile(r"(\d{1,2})(?: ?- ?| to )(?=\d)")
_HOUR_UNIT = re.compile(r"(\d{1,2})( ?)(h|heures?|horas|ore)(?![^\W\d_]|/)")
CENTURY_WORDS = frozenset(
    {
        "siècle",
        "siècles",
        "siglo",
        "siglos",
        "secolo",
        "século",
        "segle",
        "век",
        "века",
        "wiek",
        "wieku",
        "mende",
    }
)
"""Words beside which a Roman numeral counts centuries."""
_ROMAN_BEFORE = re.compile(r"(?<!\w)([ivx]{1,5})(?:e|ème|\.)? \Z")
_ROMAN_AFTER = re.compile(r" ([ivx]{1,5})(?!\w)")
_ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10}


class MomentReader(AmountReader):
    """Reads dates, years, decades, centuries and clock times."""

    def _noon(self, start: int, end: int, hour: int) -> None:
        self._emit(self._make(start, end, "time", float(hour), date=PartialDate(hour=hour, minute=0)))

    def _month(self, start: int, end: int, word: str) -> None:
        found = dates.match_month_first(self.text, self.shadow, start, end, word, self.lex)
        if found is not None:
            self._date(found)

    def _date(self, found: dates.DateMatch) -> None:
        start, end, date, last = found
        year_only = date.month is None and date.day is None
        low = float(date.year) if year_only and date.year is not None else None
        self._emit(self._make(start, end, "date", low, date=date, date_end=last))

    def _dated(self, start: int) -> bool:
        text, shadow = self.text, self.shadow
        if start and shadow[start - 1] in ".," and shadow[start - 2 : start - 1].isdigit():
            return False
        found = (
            dates.match_numeric(shadow, start, self.language)
            or dates.match_day_then_month(text, shadow, start, self.lex)
            or dates.match_han(shadow, start)
            or dates.match_day_month(shadow, start, self.language)
        )
        if found is not None and found[0] >= self.position:
            self._date(found)
            return True
        return self._century_or_decade(start) or self._year(start)

    def _century_or_decade(self, start: int) -> bool:
        run = _SHORT_RUN.match(self.shadow, start)
        if run is None:
            return False
        digits, end = run.group(), run.end()
        century = _CENTURY.match(self.shadow, end) if len(digits) <= 2 else None
        if century is None and len(digits) <= 2 and _CENTURY_BEFORE_WORD.search(self.shadow, max(0, start - 8), start):
            end_of_century = end
        elif century is not None:
            end_of_century = century.end()
        else:
            end_of_century = 0
        if end_of_century and 0 < int(digits) <= 30:
            last = int(digits) * 100.0
            christ = dates.match_before_christ(self.shadow, end_of_century)
            if christ is not None:
                self._emit(self._make(start, christ, "date", -last, -last + 99, value=(start, end)))
            else:
                self._emit(self._make(start, end_of_century, "date", last - 99, last, value=(start, end)))
            return True
        decade = _DECADE.match(self.shadow, end)
        if decade is None or not digits.endswith("0") or len(digits) not in (2, 4):
            return False
        year = int(digits)
        if len(digits) == 2:
            if decade.group() == "er" and not self.shadow.startswith((" jahre", "-jahre"), decade.end()):
                return False
            year += 1900 if year >= 20 else 2000
            if start and self.shadow[start - 1] == "'":
                start -= 1
        elif not dates.FIRST_YEAR <= year <= dates.LAST_YEAR:
            return False
        span = 99 if year % 100 == 0 and len(digits) == 4 and decade.group() in ("s", "'s") and year < 2000 else 9
        self._emit(self._make(start, decade.end(), "date", float(year), float(year + span), value=(start, end)))
        return True

    def _roman_century(self, start: int, end: int) -> None:
        """Read ``XIXe siècle`` and ``siglo XIX``."""
        match = _ROMAN_AFTER.match(self.shadow, end) or _ROMAN_BEFORE.search(self.shadow, max(0, start - 12), start)
        if match is None or not self.text[match.start(1)].isupper() or match.start(1) < self.position:
            return
        values = [_ROMAN_DIGITS[char] for char in match.group(1)]
        number = sum(
            -value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True)
        )
        begin, finish = min(start, match.start(1)), max(end, match.end(1))
        last = number * 100.0
        christ = dates.match_before_christ(self.shadow, finish)
        low, high = (-last, -last + 99) if christ is not None else (last - 99, last)
        self._emit(self._make(begin, christ or finish, "date", low, high, value=match.span(1)))

    def _year(self, start: int) -> bool:
        shadow = self.shadow
        match = _SHORT_RUN.match(shadow, start)
        if match is None:
            return False
        end, year = match.end(), int(match.group())
        after = dates.match_before_christ(shadow, end)
        if after is not None:
            self._emit(self._make(start, after, "date", -float(year), date=PartialDate(-year), value=(start, end)))
            return True
        han = dates.has_han_before_christ(shadow, start)
        if han is not None and han >= self.position:
            self._emit(self._make(han, end, "date", -float(year), date=PartialDate(-year), value=(start, end)))
            return True
        after = dates.match_anno_domini(shadow, end)
        if after is not None and year > 31:
            self._emit(self._make(start, after, "date", float(year), date=PartialDate(year), value=(start, end)))
            return True
        if _AD_BEFORE.search(shadow, max(0, start - 6), start):
            self._emit(self._make(start, end, "date", float(year), date=PartialDate(year)))
            return True
        if len(match.group()) != 4 or not dates.FIRST_YEAR <= year <= dates.LAST_YEAR or not self._is_year(start, end):
            return False
        short = _SHORT_YEAR.match(shadow, end)
        if (
            short is not None
            and year % 100 < int(short.group(1))
            and (shadow[end] == "-" or int(short.group(1)) == year % 100 + 1)
        ):
            last = year - year % 100 + int(short.group(1))
            self._year_range(start, short.end(), year, last)
            return True
        dash = _RANGE.match(shadow, end)
        if dash is not None:
            second = _FOUR_DIGITS.match(shadow, dash.end())
            if (
                second is not None
                and year < int(second.group()) <= dates.LAST_YEAR
                and self._is_year(dash.end(), second.end())
            ):
                self._year_range(start, second.end(), year, int(second.group()))
                return True
        joined = _BETWEEN_AND.match(shadow, end)
        if joined is not None and _BETWEEN.search(shadow, max(0, start - 20), start):
            second = _FOUR_DIGITS.match(shadow, joined.end())
            if second is not None and year < int(second.group()) <= dates.LAST_YEAR:
                self._year_range(start, second.end(), year, int(second.group()))
                return True
        self._emit(self._make(start, end, "date", float(year), date=PartialDate(year)))
        return True

    def _year_range(self, start: int, end: int, first: int, last: int) -> None:
        self._emit(
            self._make(
                start,
                end,
                "date",
                float(first),
                float(last),
                date=PartialDate(first),
                date_end=PartialDate(last),
            )
        )

    def _is_year(self, start: int, end: int) -> bool:
        """Whether four bare digits are a year: no unit, no decimals, and no counted noun after them."""
        shadow = self.shadow
        following = shadow[end : end + 1]
        if following and (following in "%°$€£¥^²³" or (following in ".,:'" and shadow[end + 1 : end + 2].isdigit())):
            return False
        if following == "/" and _LONG_DENOMINATOR.match(shadow, end):
            return False
        if following.isalpha() and following.isascii() and not _INFLECTION.match(shadow, end):
            return False
        previous = shadow[start - 1 : start]
        if previous.isascii() and previous.isalnum():
            return False
        if previous in "$€£¥#.,/" and previous and (previous not in ".,/" or shadow[start - 2 : start - 1].isdigit()):
            return False
        if find_unit(self.text, shadow, end, self.lex, self.language) is not None or self._scale(end)[0] != 1.0:
            return False
        if is_han(following or " "):
            return following in "年년"
        counted = _COUNTED.match(shadow, end)
        if counted is None or counted.group(1) in _NOT_COUNTED or counted.group(1) in self.lex.months:
            return True
        before = shadow[max(0, start - 16) : start].split()
        if not before or shadow[start - 1] in "\n([{\"'|:;-–," or before[-1][-1] in ".!?|:(":
            return True
        return before[-1].strip("*_`(\"'") in _YEAR_LEFT

    def _clock(self, start: int) -> bool:
        shadow = self.shadow
        first = dates.match_clock(shadow, start, self.language)
        if first is None:
            return self._bare_range_of_hours(start) or self._french_hour(start)
        end, date = first
        dash = dates.match_range_dash(shadow, end)
        second = (
            dates.match_clock(shadow, dash, self.language)
            if dash is not None and shadow[dash : dash + 1].isdigit()
            else None
        )
        if second is not None:
            end, last = second[0], second[1]
            known = {
                "half_day_unknown": date.half_day_unknown and last.half_day_unknown and ":0-" not in shadow[start:end]
            }
            date, last = replace(date, **known), replace(last, **known)
            evening = _EVENING_END.search(shadow, start, end) and not _MERIDIEM_END.search(shadow, start, first[0])
            if evening and date.hour is not None and date.hour < 12 and _hours(date) + 12 < _hours(last):
                date = replace(date, hour=date.hour + 12)
            self._emit(self._time(start, end, date, last))
            return True
        minutes = _ONE_DIGIT_MINUTE.match(shadow, start)
        if minutes is not None and not (minutes.group(1) == "0" and self._quoted(start, end)):
            return False
        self._emit(self._time(start, end, date, None))
        return True

    def _quoted(self, start: int, end: int) -> bool:
        return self.shadow[start - 1 : start] in "'\"" and self.shadow[end : end + 1] in "'\"" and start > 0

    def _time(self, start: int, end: int, date: PartialDate, last: PartialDate | None) -> Quantity:
        low, high = _hours(date), _hours(last) if last else None
        if high is not None and high < low:
            high += 24
        return self._make(start, end, "time", low, high, date=date, date_end=last)

    def _bare_range_of_hours(self, start: int) -> bool:
        """Match ``9-5 p.m.`` and ``9 to 11 AM``, where only the second hour says which half of the day."""
        match = _HOUR_DASH.match(self.shadow, start)
        if match is None or not 1 <= int(match.group(1)) <= 12:
            return False
        second = dates.match_clock(self.shadow, match.end(), self.language)
        if second is None or not _MERIDIEM_END.search(self.shadow, match.end(), second[0]):
            return False
        last = second[1]
        hour = int(match.group(1)) % 12
        if last.hour is not None and last.hour >= 12 and hour + 12 < last.hour + (last.minute or 0) / 60:
            hour += 12
        self._emit(self._time(start, second[0], PartialDate(hour=hour, minute=0), last))
        return True

    def _french_hour(self, start: int) -> bool:
        """Match ``à 9 h``: a clock time only after a preposition, elsewhere it is a duration."""
        match = _HOUR_UNIT.match(self.shadow, start)
        if match is None or int(match.group(1)) > 24:
            return False
        context = nfc(self.shadow[max(0, start - 10) : start]).rstrip()
        if not _HOUR_CONTEXT.search(context):
            return False
        hour = int(match.group(1))
        date = PartialDate(hour=hour, minute=0, half_day_unknown=hour <= 12)
        self._emit(
            self._make(
                start, match.end(), "time", float(hour), value=(start, match.end(1)), unit="hour",
                unit_start=match.start(3), unit_end=match.end(3), date=date,
            )
        )  # fmt: skip
        return True


def _hours(date: PartialDate) -> float:
    return (date.hour or 0) + (date.minute or 0) / 60 + (date.second or 0) / 3600
