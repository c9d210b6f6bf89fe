"""The scanner: one pass over the text that finds every quantity."""

from __future__ import annotations

import re

import regex

from rag_guard.text.quantities import identifiers, numbers
from rag_guard.text.quantities.folding import nfc
from rag_guard.text.quantities.model import Quantity
from rag_guard.text.quantities.moments import CENTURY_WORDS, MomentReader
from rag_guard.text.quantities.numbers import Reading
from rag_guard.text.quantities.spelled import SpelledReader

_VULGAR_CLASS = "".join(numbers.VULGAR)
_ASCII_TOKEN = re.compile(r"(?P<url>https?://\S+|www\.\S+)|(?P<digit>\d)|(?P<word>[a-z]+)")
_TOKEN = regex.compile(
    rf"(?P<url>https?://\S+|www\.\S+)|(?P<digit>\d)|(?P<vulgar>[{_VULGAR_CLASS}])|"
    rf"(?P<han>[{numbers.HAN_NUMERALS}]+)"
    r"|(?P<word>[[\p{L}\p{M}\u200c]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]]+)|(?P<noon>正午)",
    regex.V1,
)
_FRACTION = re.compile(r"(\d{1,3}) ?[/⁄] ?(\d{1,3})(?![\d/.,]\d|\d)")
_RATIO = re.compile(r"(\d{1,3})([:-])(\d{1,3})(?![\d:-])")
_DOZEN = {
    "dozen": 12.0,
    "dozens": 12.0,
    "dutzend": 12.0,
    "douzaine": 12.0,
    "docena": 12.0,
    "dozzina": 12.0,
    "dozijn": 12.0,
}
_NOON = {
    "noon": 12,
    "midday": 12,
    "midnight": 0,
    "minuit": 0,
    "mediodía": 12,
    "medianoche": 0,
    "mezzanotte": 0,
    "mitternacht": 0,
    "正午": 12,
}
_FEET_AND_INCHES = re.compile(r"(\d{1,2})' ?(\d{1,2})(?:\"|'')")


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


class _Scanner(MomentReader, SpelledReader):
    """One pass over the text."""

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
                if word in CENTURY_WORDS:
                    self._roman_century(start, match.end())
                elif word in months:
                    self._month(start, match.end(), word)
                elif word in _NOON:
                    self._noon(start, match.end(), _NOON[word])
                elif word in ("half", "quarter") or word in _DOZEN:
                    self._share_or_dozen(start, match.end(), word)
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
            elif group == "noon":
                self._noon(start, start + 2, 12)
        return self.found

    def _url(self, start: int, end: int) -> None:
        while end > start and self.shadow[end - 1] in ".,;:!?)]}'\"":
            end -= 1
        if any(char.isdigit() for char in self.shadow[start:end]):
            self._emit(self._make(start, end, "identifier", None))
        self.position = max(self.position, end)

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
        if self._version(start) or self._dated(start) or self._clock(start):
            return
        if start > self.position and shadow[start - 1] in "+(":
            end = identifiers.match_phone(shadow, start - 1)
            if end is not None:
                self._emit(self._make(start - 1, end, "identifier", None))
                return
        end = identifiers.match_number_like(shadow, start)
        if end is not None and not numbers.SPACED_RUN.match(shadow, start):
            run = numbers.NUMBER_RUN.match(shadow, start)
            readings = numbers.read_run(run.group(), start, self.language) if run and run.end() >= end else None
            listed = readings is not None and "," in shadow[start:end]
            if (readings is None or len(readings) > 1) and not listed:
                self._identifier_to(start, identifiers.extend_right(shadow, end))
                return
        self._number(start)

    def _identifier(self, begin: int, start: int) -> None:
        run = numbers.NUMBER_RUN.match(self.shadow, start)
        end = run.end() if run else start + 1
        self._identifier_to(begin, identifiers.extend_right(self.shadow, end))

    def _number(self, start: int) -> None:
        shadow = self.shadow
        fraction = _FRACTION.match(shadow, start)
        if fraction is not None and self._fraction(start, fraction):
            return
        feet = _FEET_AND_INCHES.match(shadow, start)
        if feet is not None:
            inches = float(feet.group(2)) if feet.group(2) else 0.0
            low = float(feet.group(1)) + inches / 12
            self._emit(
                self._make(
                    start,
                    feet.end(),
                    "measure",
                    low,
                    unit="foot",
                    unit_start=feet.end(1),
                    unit_end=feet.end(),
                    decimals=3,
                )
            )
            return
        ratio = _RATIO.match(shadow, start)
        if ratio is not None:
            first, second = int(ratio.group(1)), int(ratio.group(3))
            # 5-7 is a span; 3-1 is a score.
            score = first >= second and not shadow[ratio.end() : ratio.end() + 1].isalnum()
            if (ratio.group(2) == ":" or score) and not (start and shadow[start - 1] == "-"):
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
        if (
            start
            and shadow[start - 1] == "."
            and (start == 1 or not shadow[start - 2].isalnum())
            and reading.plain
            and start - 1 >= self.position
        ):
            reading = Reading(
                start - 1, reading.end, float("0." + shadow[start : reading.end]), None, reading.end - start
            )
        self._value(reading)

    def _version(self, start: int) -> bool:
        """A number behind "version" is one, also where it could be a date: 1.10.12."""
        before = self.shadow[max(0, start - 10) : start].split()
        if not before or before[-1] not in identifiers.VERSION_WORDS or self.shadow[start - 1] not in " .":
            return False
        run = numbers.NUMBER_RUN.match(self.shadow, start)
        self._identifier_to(start, identifiers.extend_right(self.shadow, run.end() if run else start + 1))
        return True

    def _fraction(self, start: int, match: re.Match[str]) -> bool:
        numerator, denominator = int(match.group(1)), int(match.group(2))
        if denominator == 0 or (match.group(1).startswith("0") and numerator):
            return False
        end = match.end()
        reading = Reading(start, end, numerator / denominator, None, 4)
        self._complete(reading, start, end, 1.0, "fraction")
        return True

    def _vulgar(self, start: int) -> None:
        value = numbers.VULGAR[self.shadow[start]]
        self._complete(Reading(start, start + 1, value, None, 4), start, start + 1, 1.0, "fraction")
