"""The scanner: one pass over the text that finds every quantity."""

from __future__ import annotations

import re
from dataclasses import replace

import regex

from rag_guard.text.quantities import dates, identifiers, modifiers, numbers
from rag_guard.text.quantities.folding import fold, nfc
from rag_guard.text.quantities.lexicon import (
    CURRENCY_PREFIXES,
    CURRENCY_SIGNS,
    LETTER_SCALES,
    Lexicon,
    Unit,
    is_han,
    lexicon,
)
from rag_guard.text.quantities.model import PartialDate, Quantity
from rag_guard.text.quantities.numbers import Reading
from rag_guard.text.quantities.units import UnitMatch, find_unit, skip_gap

_VULGAR_CLASS = "".join(numbers.VULGAR)
_ASCII_TOKEN = re.compile(r"(?P<url>https?://\S+|www\.\S+)|(?P<digit>\d)|(?P<word>[a-z]+)")
_TOKEN = regex.compile(
    rf"(?P<url>https?://\S+|www\.\S+)|(?P<digit>\d)|(?P<vulgar>[{_VULGAR_CLASS}])|(?P<han>[{numbers.HAN_NUMERALS}]+)"
    r"|(?P<word>[[\p{L}\p{M}\u200c]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]]+)|(?P<cjk>[\p{Han}\p{Hiragana}\p{Katakana}])",
    regex.V1,
)
_RANGE = re.compile(r"(?: ?- ?| ?~ ?| (?:to|bis|à|a|al|till|tot|až|až do|do) |至|到|から)")
_BETWEEN_AND = re.compile(r" (?:and|und|et|y|e|och|en|og|ja|i|a) ")
_BETWEEN = re.compile(r"(?:between|zwischen|entre|tra|fra|mellan|tussen|mellem|välillä|mezi)(?: the)? ?[$€£¥]?\Z")
_ORDINAL = re.compile(r"(?:st|nd|rd|th|ste|er|ère|re|nde|nd|e|de|ème|eme|º|ª|\.º|\.ª|:a|:e|-й|-я|-го)(?![\w])")
_ORDINAL_DOT = re.compile(r"\.(?= [^\W\d_])")
_ORDINAL_BEFORE = frozenset("der die das den dem des am im vom zum zur ihr sein seine ihre".split())
_POWER_OF_TEN = re.compile(r" ?[x×·*] ?10(?:(?:\^|\*\*)([+-]?\d{1,3})|([⁺⁻]?[⁰¹²³⁴-⁹]+))(?!\d)|e([+-]?\d{1,3})(?![\w.])")
_POWER = re.compile(r"\^([+-]?\d{1,3})(?!\d)|([⁺⁻]?[⁰¹²³⁴-⁹]+)")
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_FRACTION = re.compile(r"(\d{1,3}) ?[/⁄] ?(\d{1,3})(?![\d/.,]\d|\d)")
_MIXED_FRACTION = re.compile(r" (\d{1,2})[/⁄](\d{1,2})(?![\d/])")
_RATIO = re.compile(r"(\d{1,3})([:-])(\d{1,3})(?![\d:-])")
_SHORT_YEAR = re.compile(r"[-/](\d{2})(?![\d\w/-])")
_DECADE = re.compile(r"'?s(?!\w)|er(?:-?jahre)?(?!\w)|-?luku|(?:年代)|-tal")
_CENTURY = re.compile(r"(?:st|nd|rd|th|\.|e|er)?[ -](?:century|centuries|jahrhunderts?|siècle|århundradet)(?!\w)|世[紀纪]|세기")
_CENTURY_BEFORE_WORD = re.compile(r"(?:siglo|secolo|século|segle) \Z")
_INFLECTION = re.compile(r"(?:eko|ean|ko|an|en|ra|tik|raino|era|etik|aren|etan|ren|:n|:ssä|:ssa|:een|:stä|'[a-zäıiueo]{1,4}|-[bt][ae]n|-ig)(?![\w])")
_YEAR_LEFT = frozenset(
    "in since by from until till of to year years during circa ca around about before after between early late mid and through fall spring summer winter autumn the a "
    "his her its their this that en im seit bis um jahr jahre jahres ab vor nach depuis avant après vers année l'an an desde hasta año ano anno nel dal del al em até desde "
    "v roce od do år sedan från till vuonna vuoden vuodesta urtean سنة عام في منذ سال در में सन्".split()
)
_COUNTED = re.compile(rf" ?(?:\*\*)? ?([^\W\d_]{{3,}})")
_NOT_COUNTED = frozenset(
    "and the was when were with for but that after had has who which under during from until wurde und als war von mit bis après avec pour jusqu por para con cuando fue che per "
    "och var med som til och where while because his her its their they she".split()
)
_SIGN_BEFORE = re.compile(r"(?:(?<![^\s(\[:=,;/$€£])-|minus )\Z")
_ARTICLE_BEFORE = re.compile(r"(?<![^\W\d_])(?:the|a|his|her|its|their|my|our|your|this|every|an|la|le|el|il|der|die|das|den|dem|s) \Z")
_ONE_BEFORE = re.compile(r"(?:only|just|exactly|than|least|most|about) \Z")
_HALF_AFTER = re.compile(r" (?:of|a|an|the|its|their|his|her)(?!\w)|-(?:dozen|hour|mile|century|million|day|year)")
_AND_A_HALF = re.compile(r" and (?:a|one) (half|quarter|third)(?!\w)")
_FRACTION_PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourths": 4, "fifth": 5, "fifths": 5, "sixths": 6, "sevenths": 7, "eighths": 8,
    "ninths": 9, "tenths": 10, "tenth": 10, "drittel": 3, "viertel": 4, "fünftel": 5, "tiers": 3, "quarts": 4, "tercios": 3, "terzi": 3,
}  # fmt: skip
_DOZEN = {"dozen": 12.0, "dozens": 12.0, "dutzend": 12.0, "douzaine": 12.0, "docena": 12.0, "dozzina": 12.0, "dozijn": 12.0}
_NOON = {"noon": 12, "midday": 12, "midnight": 0, "minuit": 0, "mediodía": 12, "medianoche": 0, "mezzanotte": 0, "mitternacht": 0, "正午": 12}
_HAN_COUNTERS = "个個人名位歳岁座条條层階块塊本枚台匹头頭只隻家所次回度つ天日年月时時点點分秒种種第"
_NEXT_WORD = re.compile(r"[ -]([^\W\d_]+)")
_HOUR_CONTEXT = re.compile(r"(?:^|[\s'])(?:à|dès|vers|jusqu'à|et|a|às|alle|um|gegen|ab|kl|klo|los|las|les)\Z")


def find_quantities(text: str, language: str | None = None) -> list[Quantity]:
    """Find every quantity of ``text``.

    Args:
        text: any string.
        language: ISO 639-1 code of the text where known; it settles ``1,500`` and which words are numbers.

    Returns:
        The quantities in order; they do not overlap, and each ``text[q.start:q.end]`` is ``q.text``.
    """
    if not text:
        return []
    if language is not None:
        language = language.lower().replace("_", "-").split("-")[0] or None
    return _Scanner(text, language).run()


class _Scanner:
    def __init__(self, text: str, language: str | None) -> None:
        self.text = text
        self.shadow = fold(text)
        self.language = language
        self.lex: Lexicon = lexicon()
        self.found: list[Quantity] = []
        self.position = 0
        self._guessed: tuple[str | None] | None = None

    def run(self) -> list[Quantity]:
        shadow = self.shadow
        pattern = _ASCII_TOKEN if shadow.isascii() else _TOKEN
        months, number_languages = self.lex.months, numbers.number_languages
        for match in pattern.finditer(shadow):
            start = match.start()
            if start < self.position:
                continue
            group = match.lastgroup
            if group == "word":
                word = match.group()
                if not word.isascii():
                    word = nfc(word)
                if word in months:
                    self._month(start, match.end(), word)
                elif word in _NOON:
                    self._noon(start, match.end(), _NOON[word])
                elif word == "half" or word in _DOZEN:
                    self._half_or_dozen(start, match.end(), word)
                elif number_languages(word):
                    self._words(start, match.end(), word)
            elif group == "digit":
                self._digit(start)
            elif group == "url":
                self._url(start, match.end())
            elif group == "vulgar":
                self._vulgar(start)
            elif group == "han":
                self._han(start, match.end())
            elif group == "cjk" and shadow.startswith("正午", start):
                self._noon(start, start + 2, 12)
        return self.found

    # Emitting

    def _emit(self, quantity: Quantity) -> None:
        self.position = max(self.position, quantity.end)
        before = modifiers.before(self.shadow, self._modifier_anchor(quantity))
        found = before or modifiers.after(self.shadow, quantity.end)
        if found is not None:
            name, start, end = found
            if self.found and start < self.found[-1].end:
                found = None
            else:
                quantity = replace(quantity, approximate=name, modifier_start=start, modifier_end=end)
        self.found.append(quantity)

    def _modifier_anchor(self, quantity: Quantity) -> int:
        return quantity.start

    def _make(self, start: int, end: int, kind: str, low: float | None, high: float | None = None, **parts: object) -> Quantity:
        value = parts.pop("value", (start, end))
        assert isinstance(value, tuple)
        return Quantity(
            start, end, self.text[start:end], kind, low, low if high is None else high, value[0], value[1], **parts  # type: ignore[arg-type]
        )

    def _url(self, start: int, end: int) -> None:
        while end > start and self.shadow[end - 1] in ".,;:!?)]}'\"":
            end -= 1
        if any(char.isdigit() for char in self.shadow[start:end]):
            self._emit(self._make(start, end, "identifier", None))
        self.position = max(self.position, end)

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

    # Digits

    def _digit(self, start: int) -> None:
        shadow = self.shadow
        begin = start
        if start and shadow[start - 1].isascii() and (shadow[start - 1].isalpha() or shadow[start - 1] in "-_"):
            begin = identifiers.extend_left(self.text, shadow, start)
            if begin < start:
                if self._prefix_currency(start) is not None:
                    begin = start
                elif begin >= self.position:
                    self._identifier(begin, start)
                    return
        if self._dated(start) or self._clock(start):
            return
        end = identifiers.match_number_like(shadow, start)
        if end is not None and not numbers.SPACED_RUN.match(shadow, start):
            run = numbers.NUMBER_RUN.match(shadow, start)
            readings = numbers.read_run(run.group(), start, self.language) if run and run.end() >= end else None
            if readings is None or len(readings) > 1:
                if not (readings and "," in shadow[start:end]):
                    self._identifier_to(start, identifiers.extend_right(shadow, end))
                    return
        self._number(start)

    def _identifier(self, begin: int, start: int) -> None:
        run = numbers.NUMBER_RUN.match(self.shadow, start)
        end = run.end() if run else start + 1
        self._identifier_to(begin, identifiers.extend_right(self.shadow, end))

    def _identifier_to(self, begin: int, end: int) -> None:
        plus = begin and self.shadow[begin - 1] in "+("
        if plus and self.shadow[begin - 1] == "+" and begin - 1 >= self.position:
            begin -= 1
        self._emit(self._make(begin, end, "identifier", None))

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
        run = re.compile(r"\d{1,4}(?!\d)").match(self.shadow, start)
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

    def _year(self, start: int) -> bool:
        shadow = self.shadow
        match = re.compile(r"\d{1,4}(?![\d])").match(shadow, start)
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
        if re.compile(r"(?<![^\W\d_])(?:ad|a\.d\.) \Z").search(shadow, max(0, start - 6), start):
            self._emit(self._make(start, end, "date", float(year), date=PartialDate(year)))
            return True
        if len(match.group()) != 4 or not dates.FIRST_YEAR <= year <= dates.LAST_YEAR or not self._is_year(start, end):
            return False
        short = _SHORT_YEAR.match(shadow, end)
        if short is not None and year % 100 < int(short.group(1)) and (shadow[end] == "-" or int(short.group(1)) == year % 100 + 1):
            last = year - year % 100 + int(short.group(1))
            self._year_range(start, short.end(), year, last)
            return True
        dash = _RANGE.match(shadow, end)
        if dash is not None:
            second = re.compile(r"\d{4}(?!\d|[.,]\d)").match(shadow, dash.end())
            if second is not None and year < int(second.group()) <= dates.LAST_YEAR and self._is_year(dash.end(), second.end()):
                self._year_range(start, second.end(), year, int(second.group()))
                return True
        joined = _BETWEEN_AND.match(shadow, end)
        if joined is not None and _BETWEEN.search(shadow, max(0, start - 20), start):
            second = re.compile(r"\d{4}(?!\d|[.,]\d)").match(shadow, joined.end())
            if second is not None and year < int(second.group()) <= dates.LAST_YEAR:
                self._year_range(start, second.end(), year, int(second.group()))
                return True
        self._emit(self._make(start, end, "date", float(year), date=PartialDate(year)))
        return True

    def _year_range(self, start: int, end: int, first: int, last: int) -> None:
        self._emit(self._make(start, end, "date", float(first), float(last), date=PartialDate(first), date_end=PartialDate(last)))

    def _is_year(self, start: int, end: int) -> bool:
        """Whether four bare digits are a year: no unit, no decimals, and no counted noun after them."""
        shadow = self.shadow
        following = shadow[end : end + 1]
        if following and (following in "%°$€£¥^²³" or (following in ".,:/'" and shadow[end + 1 : end + 2].isdigit())):
            return False
        if following.isalpha() and following.isascii() and not _INFLECTION.match(shadow, end):
            return False
        previous = shadow[start - 1 : start]
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

    # Clock times

    def _clock(self, start: int) -> bool:
        shadow = self.shadow
        first = dates.match_clock(shadow, start, self.language)
        if first is None:
            return self._bare_range_of_hours(start) or self._french_hour(start)
        end, date = first
        dash = dates.match_range_dash(shadow, end)
        second = dates.match_clock(shadow, dash, self.language) if dash is not None and shadow[dash : dash + 1].isdigit() else None
        if second is not None:
            end, last = second[0], second[1]
            known = {"half_day_unknown": date.half_day_unknown and last.half_day_unknown and ":0-" not in shadow[start:end]}
            date, last = replace(date, **known), replace(last, **known)
            self._emit(self._time(start, end, date, last))
            return True
        minutes = re.compile(r"\d{1,2}:(\d)(?!\d)").match(shadow, start)
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
        match = re.compile(r"(\d{1,2})(?: ?- ?| to )(?=\d)").match(self.shadow, start)
        if match is None or not 1 <= int(match.group(1)) <= 12:
            return False
        second = dates.match_clock(self.shadow, match.end(), self.language)
        if second is None or not re.search(r"[ap]\.? ?m\.?\Z", self.shadow[match.end() : second[0]]):
            return False
        last = second[1]
        hour = int(match.group(1)) % 12
        if last.hour is not None and last.hour >= 12 and hour + 12 < last.hour + (last.minute or 0) / 60:
            hour += 12
        self._emit(self._time(start, second[0], PartialDate(hour=hour, minute=0), last))
        return True

    def _french_hour(self, start: int) -> bool:
        """Match ``à 9 h``: a clock time only after a preposition, elsewhere it is a duration."""
        match = re.compile(r"(\d{1,2})( ?)(h|heures?|horas|ore)(?![^\W\d_]|/)").match(self.shadow, start)
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

    # Numbers

    def _number(self, start: int) -> None:
        shadow = self.shadow
        fraction = _FRACTION.match(shadow, start)
        if fraction is not None and self._fraction(start, fraction):
            return
        ratio = _RATIO.match(shadow, start)
        if ratio is not None:
            first, second = int(ratio.group(1)), int(ratio.group(3))
            # 5-7 is a span; 3-1 is a score.
            if ratio.group(2) == ":" or (first >= second and not shadow[ratio.end() :][:1].isalnum()):
                if not (start and shadow[start - 1] == "-"):
                    self._emit(self._make(start, ratio.end(), "ratio", None))
                    return
        run = numbers.SPACED_RUN.match(shadow, start) or numbers.NUMBER_RUN.match(shadow, start)
        if run is None:  # pragma: no cover - a digit always starts a run
            self.position = start + 1
            return
        readings = numbers.read_run(run.group(), start, self.language)
        if readings is None:
            self._identifier_to(start, identifiers.extend_right(shadow, run.end()))
            return
        if len(readings) != 1:
            for reading in readings:
                self._emit(self._make(reading.start, reading.end, "number", reading.value, decimals=reading.decimals))
            self.position = max(self.position, run.end())
            return
        reading = readings[0]
        if start and shadow[start - 1] == "." and (start == 1 or not shadow[start - 2].isalnum()) and reading.plain and start - 1 >= self.position:
            reading = Reading(start - 1, reading.end, float("0." + shadow[start : reading.end]), None, reading.end - start)
        version = shadow[max(0, start - 10) : start].split()
        if version and version[-1] in identifiers.VERSION_WORDS and shadow[start - 1] in " .":
            self._identifier_to(start, identifiers.extend_right(shadow, reading.end))
            return
        self._value(reading)

    def _fraction(self, start: int, match: re.Match[str]) -> bool:
        numerator, denominator = int(match.group(1)), int(match.group(2))
        if denominator == 0 or (match.group(1).startswith("0") and numerator):
            return False
        end = match.end()
        reading = Reading(start, end, numerator / denominator, None, 4)
        self._complete(reading, start, end, 1.0, "fraction")
        return True

    def _value(self, reading: Reading) -> None:
        shadow = self.shadow
        start, end = reading.start, reading.end
        mixed = _MIXED_FRACTION.match(shadow, end) if reading.plain else None
        vulgar = numbers.VULGAR.get(shadow[end : end + 1]) or (numbers.VULGAR.get(shadow[end + 1 : end + 2]) if shadow[end : end + 1] == " " else None)
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
            run = re.compile(r"\d{1,4}(?!\d)").match(self.shadow, end)
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
                length = next((size for size in (2, 1) if shadow[end : end + size] in self.lex.han_scales), 0)
                if not length:
                    break
                scale, end = scale * self.lex.han_scales[shadow[end : end + length]], end + length
                continue
            position, separated = skip_gap(shadow, end)
            word = regex.compile(r"[\p{L}\p{M}]+").match(shadow, position)
            if word is None:
                break
            key = nfc(word.group())
            stop = word.end()
            factor = self.lex.scales.get(key)
            if factor is not None:
                longer = regex.compile(r" (?:[\p{L}\p{M}]+)(?: de(?!\w))?| d'").match(shadow, stop)
                if longer is not None:
                    phrase = nfc(key + longer.group())
                    if phrase in self.lex.scales:
                        factor, stop = self.lex.scales[phrase], longer.end()
                if stop == word.end() and len(key) <= 4 and key + "." in self.lex.scales and shadow.startswith(".", stop):
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
        match = re.compile(r"[$€£¥] ?[\d.,]+\Z").search(self.shadow, max(0, end - 16), end)
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
        if unit is None and prefix is None and begin and shadow[begin - 1] == "%" and not shadow[begin - 2 : begin - 1].isalnum() and begin - 1 >= self.position:
            percent_before = UnitMatch(begin - 1, begin, Unit("percent", "percent"))
            begin -= 1
        if unit is None and prefix is not None:
            unit = UnitMatch(prefix[0], prefix[1], prefix[2])
        elif unit is not None and prefix is not None and unit.unit.kind != "money":
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
            begin, finish, kind, low, high, value=(value_start, value_end), unit=unit.unit.name if unit else None,
            unit_start=unit.start if unit else None, unit_end=unit.end if unit else None,
            decimals=decimals, scale=first_scale, alternative=alternative,
        )  # fmt: skip
        if unit is not None and unit.unit.dimension in ("length", "duration", "mass") and low == high:
            quantity = self._compound(quantity, unit.unit)
        self._emit(quantity)

    def _attached_letters(self, end: int) -> int | None:
        """Return the end of a code such as ``3D`` or ``4x4`` whose letters are neither unit nor inflection."""
        char = self.shadow[end : end + 1]
        if not (char.isascii() and char.isalpha()) or _INFLECTION.match(self.shadow, end):
            return None
        if re.compile(r"x \d?|x\d").match(self.shadow, end) or is_han(char):
            return None
        return identifiers.extend_right(self.shadow, end)

    def _compound(self, quantity: Quantity, unit: Unit) -> Quantity:
        """Add smaller parts of the same dimension: ``5 ft 10 in``, ``1 hour and 30 minutes``."""
        from rag_guard.text.quantities.units import conversion

        for _ in range(3):
            match = re.compile(r",? (?:and |und |et |y |e |och )?(?=\d)").match(self.shadow, quantity.end)
            run = numbers.NUMBER_RUN.match(self.shadow, match.end()) if match else None
            if run is None:
                break
            readings = numbers.read_run(run.group(), run.start(), self.language)
            if readings is None or len(readings) != 1:
                break
            part = find_unit(self.text, self.shadow, run.end(), self.lex, self.language)
            inches = re.compile(r" in(?!\w)").match(self.shadow, run.end()) if part is None and quantity.unit == "foot" else None
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
        sign = re.compile(r"[$€£¥]").match(shadow, position)
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

    # Fractions, Han numerals and words

    def _vulgar(self, start: int) -> None:
        value = numbers.VULGAR[self.shadow[start]]
        self._complete(Reading(start, start + 1, value, None, 4), start, start + 1, 1.0, "fraction")

    def _han(self, start: int, end: int) -> None:
        run = self.shadow[start:end]
        following = self.shadow[end : end + 1]
        previous = self.shadow[start - 1 : start]
        has_digit = any(char in numbers.HAN_DIGITS for char in run)
        single = len(run) == 1
        if not has_digit and run != "十":
            return
        if single and (run in "一〇零" or following not in _HAN_COUNTERS or not following) and previous != "第":
            return
        if len(set(run)) == 1 and len(run) > 1:
            return
        value = numbers.read_han(run)
        if value is None:
            return
        if following == "年" and all(char in numbers.HAN_DIGITS for char in run) and len(run) == 4:
            self._emit(self._make(start, end + 1, "date", value, date=PartialDate(int(value)), value=(start, end)))
            return
        if following == "月" and 1 <= value <= 12:
            self._emit(self._make(start, end + 1, "date", None, date=PartialDate(None, int(value)), value=(start, end)))
            return
        if previous == "第" and start - 1 >= self.position:
            self._emit(self._make(start - 1, end, "ordinal", value, value=(start, end)))
            return
        self._complete(Reading(start, end, value), start, end, 1.0, "number")

    def _guess(self) -> str | None:
        if self._guessed is None:
            words = re.findall(r"[^\W\d_]+", self.shadow[:4000])
            self._guessed = (numbers.guess_language(words),)
        return self._guessed[0]

    def _half_or_dozen(self, start: int, end: int, word: str) -> None:
        if word != "half":
            if word == "dozens":
                return
            article = re.compile(r"(?<!\w)(half )?(?:a|an|one|ein|une|una) \Z").search(self.shadow, max(self.position, start - 12), start)
            begin = article.start() if article else start
            value = 6.0 if article is not None and article.group(1) else 12.0
            self._complete(Reading(begin, end, value), begin, end, 1.0, "number")
            return
        after = _HALF_AFTER.match(self.shadow, end)
        if after is None:
            return
        dozen = re.compile(r"[ -](?:a )?dozen(?!\w)").match(self.shadow, end)
        if dozen is not None:
            self._complete(Reading(start, dozen.end(), 6.0), start, dozen.end(), 1.0, "number")
            return
        large = re.compile(r" an? (?=[^\W\d_])").match(self.shadow, end)
        scale, stop = self._scale(large.end() - 1 if large else end)
        if scale != 1.0:
            self._complete(Reading(start, end, 0.5, None, 1), start, stop, scale, "number")
            return
        if large is not None:
            unit = find_unit(self.text, self.shadow, large.end() - 1, self.lex, self.language)
            if unit is not None:
                quantity = self._make(
                    start, unit.end, unit.unit.kind, 0.5, value=(start, end), unit=unit.unit.name, unit_start=unit.start, unit_end=unit.end, decimals=1
                )
                self._emit(quantity)
                return
        self._emit(self._make(start, end, "fraction", 0.5, decimals=2))

    def _words(self, start: int, end: int, word: str) -> None:
        shadow = self.shadow
        languages = numbers.number_languages(word)
        language = numbers.choose_language(languages, word, self.language, None)
        if language is None or (language != self.language and word.isascii() and (len(languages) > 1 or numbers.is_uncertain_alone(word) or language != "en")):
            language = numbers.choose_language(languages, word, self.language, self._guess())
        if language is None:
            return
        spans = self._word_run(start, end, word, language)
        words = tuple(item[0] for item in spans)
        found = numbers.read_words(words, language)
        if not found or found[0][0] != 0:
            return
        _, last, value, is_ordinal = found[0]
        if value is None or value != value or abs(value) > 1e30:
            return
        stop = spans[last - 1][2]
        self._spelled(start, stop, words[:last], float(value), is_ordinal, language)

    def _word_run(self, start: int, end: int, word: str, language: str) -> list[tuple[str, int, int]]:
        """Return the number words (word, start, end) that follow each other from ``start``."""
        spans, position = [(word, start, end)], end
        for _ in range(16):
            match = regex.compile(r"[ -]([\p{L}\p{M}]+)").match(self.shadow, position)
            if match is None:
                break
            following = nfc(match.group(1))
            if language not in numbers.number_languages(following):
                if following not in numbers.JOINERS:
                    break
                after = regex.compile(r" ([\p{L}\p{M}]+)").match(self.shadow, match.end())
                if after is None or language not in numbers.number_languages(nfc(after.group(1))):
                    break
                # "five and six" are two numbers, "three hundred and six" is one.
                if language == "en" and spans[-1][0] not in ("hundred", "thousand", "million", "billion"):
                    break
            spans.append((following, match.start(1), match.end()))
            position = match.end()
        return spans

    def _spelled(self, start: int, end: int, words: tuple[str, ...], value: float, is_ordinal: bool, language: str) -> None:
        shadow = self.shadow
        following = _NEXT_WORD.match(shadow, end)
        part = _FRACTION_PARTS.get(following.group(1)) if following else None
        if part is not None and following is not None and not is_ordinal and 0 < value < part:
            self._emit(self._make(start, following.end(), "fraction", value / part, decimals=4))
            return
        if words[-1] in _FRACTION_PARTS and len(words) > 1 and is_ordinal:
            # The library reads "two thirds" as one ordinal or stops before it.
            return
        if is_ordinal:
            if words[-1] in ("third", "quarter", "fifth", "tenth") and shadow.startswith(" of ", end) and re.compile(r"(?<!\w)a \Z").search(shadow, max(0, start - 3), start):
                self._emit(self._make(start, end, "fraction", 1 / _FRACTION_PARTS.get(words[-1], 4), decimals=4))
            elif len(words) > 1 or (words[0] not in ("seconds",) and _ARTICLE_BEFORE.search(shadow, max(0, start - 7), start)):
                self._emit(self._make(start, end, "ordinal", value))
            return
        half = _AND_A_HALF.match(shadow, end)
        if half is not None:
            value += 1 / _FRACTION_PARTS[half.group(1)]
            end = half.end()
        scale, stop = 1.0, end
        if following is not None and following.group(1) in _DOZEN:
            self._complete(Reading(start, following.end(), value * 12), start, following.end(), 1.0, "number")
            return
        if shadow[end : end + 1] == " ":
            scale, stop = self._scale(end)
        if len(words) == 1 and half is None and scale == 1.0 and numbers.is_uncertain_alone(words[0]) and language in ("en", "de", "fr", "es", "it", "pt", "nl", "da"):
            article = re.compile(r"(?<!\w)(?:a|one) \Z").search(shadow, max(self.position, start - 5), start)
            if words[0] in ("hundred", "thousand", "million", "billion"):
                if article is None:
                    return
            elif words[0] in ("one", "ein", "eine", "einen", "einem", "einer", "un", "une", "una", "uno", "um", "uma", "een", "en", "et"):
                unit = find_unit(self.text, shadow, end, self.lex, self.language) if words[0] == "one" else None
                counted = re.compile(r"-[^\W\d_]{3}").match(shadow, end) if words[0] == "one" else None
                limited = _ONE_BEFORE.search(shadow, max(0, start - 9), start) if words[0] == "one" else None
                if unit is None and counted is None and limited is None:
                    return
                if unit is not None and shadow.startswith("one of", start):
                    return
            elif words[0] in ("a", "an", "first", "second", "seconds") or self._guess() not in (None, language):
                return
        self._complete(Reading(start, end, value), start, stop, scale, "number")


def _power(base: float, exponent: int) -> float:
    try:
        return float(base**exponent)
    except OverflowError:
        return float("inf")


def _hours(date: PartialDate) -> float:
    return (date.hour or 0) + (date.minute or 0) / 60 + (date.second or 0) / 3600
