"""Numbers written in words or in Han numerals."""

from __future__ import annotations

import re

import regex

from rag_guard.text.quantities import numbers
from rag_guard.text.quantities.amounts import AmountReader
from rag_guard.text.quantities.folding import nfc
from rag_guard.text.quantities.model import PartialDate
from rag_guard.text.quantities.numbers import Reading
from rag_guard.text.quantities.units import find_unit

_ARTICLE_BEFORE = re.compile(
    r"(?<![^\W\d_])(?:the|a|his|her|its|their|my|our|your|this|every|an|la|le|el|il|der|die|das|den|dem|s) \Z"
)
_ONE_BEFORE = re.compile(r"(?:only|just|exactly|than|least|most|about) \Z")
_HALF_AFTER = re.compile(r" (?:of|a|an|the|its|their|his|her)(?!\w)|-(?:dozen|hour|mile|century|million|day|year)")
_OF_AFTER = re.compile(r" of(?!\w)")
_AND_A_HALF = re.compile(r" and (?:a|one) (half|quarter|third)(?!\w)")
_FRACTION_PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourths": 4,
    "fifth": 5, "fifths": 5,
    "sixths": 6, "sevenths": 7, "eighths": 8,
    "ninths": 9, "tenths": 10, "tenth": 10,
    "drittel": 3, "viertel": 4, "fünftel": 5, "tiers": 3, "quarts": 4, "tercios": 3, "terzi": 3,
}  # fmt: skip
_DOZEN = {
    "dozen": 12.0,
    "dozens": 12.0,
    "dutzend": 12.0,
    "douzaine": 12.0,
    "docena": 12.0,
    "dozzina": 12.0,
    "dozijn": 12.0,
}
_HAN_COUNTERS = "个個人名位歳岁座条條层階块塊本枚台匹头頭只隻家所次回度つ天日年月时時点點分秒种種第"
_NEXT_WORD = re.compile(r"[ -]([^\W\d_]+)")
_DOZEN_ARTICLE = re.compile(r"(?<!\w)(half )?(?:a|an|one|ein|une|una) \Z")
_DOZEN_AFTER = re.compile(r"[ -](?:a )?dozen(?!\w)")
_ARTICLE_AFTER = re.compile(r" an? (?=[^\W\d_])")
_JOINED_WORD = regex.compile(r"[ -]([\p{L}\p{M}]+)")
_SPACED_WORD = regex.compile(r" ([\p{L}\p{M}]+)")
_A_BEFORE = re.compile(r"(?<!\w)a \Z")
_A_OR_ONE_BEFORE = re.compile(r"(?<!\w)(?:a|one) \Z")
_HYPHENATED = re.compile(r"-[^\W\d_]{3}")
_MAGNITUDES = frozenset({"hundred", "hundreds", "thousand", "thousands", "million", "millions", "billion", "billions"})


class SpelledReader(AmountReader):
    """Reads numbers written in words or in Han numerals."""

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
        if (len(set(run)) == 1 and len(run) > 1) or run[0] in "万萬億亿兆":
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

    def _share_or_dozen(self, start: int, end: int, word: str) -> None:
        if word == "quarter":
            article = _A_BEFORE.search(self.shadow, max(self.position, start - 3), start)
            if article is not None and _OF_AFTER.match(self.shadow, end):
                self._emit(self._make(start, end, "fraction", 0.25, decimals=2))
            return
        if word != "half":
            if word == "dozens":
                return
            article = _DOZEN_ARTICLE.search(self.shadow, max(self.position, start - 12), start)
            begin = article.start() if article else start
            value = 6.0 if article is not None and article.group(1) else 12.0
            self._complete(Reading(begin, end, value), begin, end, 1.0, "number")
            return
        after = _HALF_AFTER.match(self.shadow, end)
        if after is None:
            return
        dozen = _DOZEN_AFTER.match(self.shadow, end)
        if dozen is not None:
            self._complete(Reading(start, dozen.end(), 6.0), start, dozen.end(), 1.0, "number")
            return
        large = _ARTICLE_AFTER.match(self.shadow, end)
        scale, stop = self._scale(large.end() - 1 if large else end)
        if scale != 1.0:
            self._complete(Reading(start, end, 0.5, None, 1), start, stop, scale, "number")
            return
        if large is not None:
            unit = find_unit(self.text, self.shadow, large.end() - 1, self.lex, self.language)
            if unit is not None:
                quantity = self._make(
                    start,
                    unit.end,
                    unit.unit.kind,
                    0.5,
                    value=(start, end),
                    unit=unit.unit.name,
                    unit_start=unit.start,
                    unit_end=unit.end,
                    decimals=1,
                )
                self._emit(quantity)
                return
        self._emit(self._make(start, end, "fraction", 0.5, decimals=2))

    def _words(self, start: int, end: int, word: str) -> None:
        languages = numbers.number_languages(word)
        language = numbers.choose_language(languages, word, self.language, None)
        if language is None or (
            language != self.language
            and word.isascii()
            and (len(languages) > 1 or numbers.is_uncertain_alone(word) or language != "en")
        ):
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
        if len(found) > 1 and language == "en" and self._spelled_year(start, found, spans):
            return
        self._spelled(start, stop, words[:last], float(value), is_ordinal, language)

    def _spelled_year(
        self, start: int, found: tuple[tuple[int, int, float, bool], ...], spans: list[tuple[str, int, int]]
    ) -> bool:
        """Read "nineteen eighty-four": two numbers side by side of which the first is a century."""
        (_, first_end, century, first_ordinal), (second_start, second_end, rest, second_ordinal) = found[:2]
        if (
            first_ordinal
            or second_ordinal
            or first_end != second_start
            or not (10 <= century <= 20 and 10 <= rest <= 99)
        ):
            return False
        year = int(century * 100 + rest)
        end = spans[second_end - 1][2]
        self._emit(self._make(start, end, "date", float(year), date=PartialDate(year)))
        return True

    def _word_run(self, start: int, end: int, word: str, language: str) -> list[tuple[str, int, int]]:
        """Return the number words (word, start, end) that follow each other from ``start``."""
        spans, position = [(word, start, end)], end
        for _ in range(16):
            match = _JOINED_WORD.match(self.shadow, position)
            if match is None:
                break
            following = nfc(match.group(1))
            if language not in numbers.number_languages(following):
                if following not in numbers.JOINERS:
                    break
                after = _SPACED_WORD.match(self.shadow, match.end())
                if after is None or language not in numbers.number_languages(nfc(after.group(1))):
                    break
                # "five and six" are two numbers, "three hundred and six" is one.
                if language == "en" and spans[-1][0] not in ("hundred", "thousand", "million", "billion"):
                    break
            spans.append((following, match.start(1), match.end()))
            position = match.end()
        return spans

    def _spelled(
        self, start: int, end: int, words: tuple[str, ...], value: float, is_ordinal: bool, language: str
    ) -> None:
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
            if (
                words[-1] in ("third", "quarter", "fifth", "tenth")
                and shadow.startswith(" of ", end)
                and _A_BEFORE.search(shadow, max(0, start - 3), start)
            ):
                self._emit(self._make(start, end, "fraction", 1 / _FRACTION_PARTS.get(words[-1], 4), decimals=4))
            elif len(words) > 1 or (
                not (words[0] == "first" and _A_BEFORE.search(shadow, max(0, start - 3), start))
                and _ARTICLE_BEFORE.search(shadow, max(0, start - 7), start)
                and (following or words[0] != "second")
            ):
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
        if (
            len(words) == 1
            and half is None
            and scale == 1.0
            and numbers.is_uncertain_alone(words[0])
            and language in ("en", "de", "fr", "es", "it", "pt", "nl", "da")
        ):
            article = _A_OR_ONE_BEFORE.search(shadow, max(self.position, start - 5), start)
            if words[0] in _MAGNITUDES:
                if article is None:
                    return
            elif words[0] in (
                "one",
                "ein",
                "eine",
                "einen",
                "einem",
                "einer",
                "un",
                "une",
                "una",
                "uno",
                "um",
                "uma",
                "een",
                "en",
                "et",
            ):
                unit = find_unit(self.text, shadow, end, self.lex, self.language) if words[0] == "one" else None
                counted = _HYPHENATED.match(shadow, end) if words[0] == "one" else None
                limited = _ONE_BEFORE.search(shadow, max(0, start - 9), start) if words[0] == "one" else None
                if unit is None and counted is None and limited is None:
                    return
                if unit is not None and shadow.startswith("one of", start):
                    return
            elif words[0] in ("a", "an", "first", "second", "seconds") or language not in (
                self.language,
                self._guess(),
            ):
                return
        self._complete(Reading(start, end, value), start, stop, scale, "number")
