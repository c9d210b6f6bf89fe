"""Dates and clock times as they are written, with the parts that are given."""

from __future__ import annotations

import re
from dataclasses import replace

from rag_guard.text.quantities.folding import nfc
from rag_guard.text.quantities.lexicon import Lexicon
from rag_guard.text.quantities.model import PartialDate
from rag_guard.text.quantities.units import LETTERS

DateMatch = tuple[int, int, PartialDate, "PartialDate | None"]
"""start, end, the date, and the end of a range."""

FIRST_YEAR, LAST_YEAR = 1000, 2100
"""Four bare digits in this range are taken for a year."""

_ISO = re.compile(
    r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\d]|[.-]\d)"
    r"(?:[t ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:z(?!\w)|[+-]\d{2}:?\d{2})?)?"
)
_DAY_FIRST = re.compile(r"(\d{1,2})([-/.])( ?)(\d{1,2})\2\3(\d{4}|\d{2})(?!\d|[.-]\d)")
_YEAR_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])(?![\d-])")
_DAY_MONTH = re.compile(r"(\d{1,2})/(\d{1,2})(?![\d/])")
_HAN = re.compile(r"(\d{1,4}) ?[年년] ?(?:(\d{1,2}) ?[月월] ?(?:(\d{1,2}) ?[日号號일])?)?")
_HAN_MONTH = re.compile(r"(\d{1,2}) ?[月월](?!間|间|份额) ?(?:(\d{1,2}) ?[日号號일])?")
_CLOCK = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{2}))?(?![\d:])")
_DOT_CLOCK = re.compile(r"(\d{1,2})[.](\d{2})(?!\d)")
_MERIDIEM = re.compile(r"[ ]?(?:(a|p)\.? ?m\.?(?![^\W\d_])|(vorm|nachm)\.)")
_OCLOCK = re.compile(
    r"[ ]?(?:o'clock|uhr(?: (\d{1,2})(?!\d))?|h(\d{2})(?!\d)|heures? (\d{2})(?!\d)|"
    r"時(?: ?(\d{1,2})分)?|[点點时](?:(\d{1,2})分|半)?|시(?: (\d{1,2})분)?|часов утра)(?![^\W\d_]|間|间)"
)
_BARE_HOUR = re.compile(r"\d{1,2}(?![\d.,:/])")
_RANGE_DASH = re.compile(r" ?[-~] ?| (?:to|bis|until|till|a|à|al|hasta|až|do) ")
_DAY_HEAD = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th|er|\.?º|ª|:a|:e|\.)?(?:(?: ?- ?| (?:to|and|bis|al|y|au|"
    r"a) )(\d{1,2})(?:st|nd|rd|th|\.|er)?)?"
    r"(?: (?:de |of the |of |di |del |da |d')|[ /-]| ?d')"
    rf"({LETTERS})"
)
_YEAR_TAIL = re.compile(r"\.?(?: ?, ?| (?:de |del |of |do )?|-|/)(\d{4})(?!\d|[.,]\d)")
_DAY_AFTER_MONTH = re.compile(
    r"\.?[ -](\d{1,2})(?:st|nd|rd|th|a|an|ean)?(?![\w:%/]|[.,]\d)(?:(?: ?- ?|"
    r" to )(\d{1,2})(?![\w:%]|[.,]\d))?"
)
_YEAR_WORD_DAY = re.compile(rf"(\d{{4}})(?:eko|ko|\.)? ({LETTERS})\.?(?: (\d{{1,2}})(?:a|an|ean|\.)?(?![\w:]))?")
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018, "民国": 1911, "民國": 1911}
_HAN_MORNING = ("上午", "早上", "午前", "凌晨", "清晨", "오전")
_HAN_EVENING = ("下午", "晚上", "午後", "傍晚", "오후")
_BEFORE_CHRIST = re.compile(
    r" ?(?:bce?(?!\w)|b\. ?c\.(?: ?e\.)?|v\. ?(?:chr|u\. ?z)\.?|av(?:\.|ant) j(?:\.|"
    r"ésus)?-?c(?:\.|hrist)?|a\. ?c\.|a\. ?de c\.|př\. ?n\. ?l\.|eaa\.|ekr\.?|f\. ?kr\.?|"
    r"k\. ?a\.|"
    r"ق\.? ?م\.?|قبل الميلاد|پیش از میلاد|ईसा पूर्व|до н\. ?э\.|p\.n\.e\.)(?![^\W\d_])"
)
_ANNO_DOMINI = re.compile(
    r" ?(?:ad|a\. ?d\.|c\. ?e\.|ce|n\. ?chr\.?|ap(?:\.|rès) j\.?-?c\.?|d\. ?c\.|e\. ?kr\.?|"
    r"n\. ?l\.|ميلادي|میلادی)(?![^\W\d_])"
)
_HAN_BEFORE_CHRIST = ("公元前", "紀元前", "西元前", "기원전")
_AMBIGUOUS_WORDS = frozenset(
    {"may", "march", "mar", "august", "mars", "april", "june", "jan", "mai", "maj", "sep", "dec", "jun"}
)
_PREPOSITIONS = frozenset(
    "in since until till by from during of mid- mid early late last next every between and "
    "to through im seit bis ab anfang ende mitte en depuis dès jusqu'en desde hasta de em "
    "desde até a dal da nel od v do i sinds tot em i sedan".split()
)


def _valid(month: int, day: int | None) -> bool:
    return 1 <= month <= 12 and (day is None or 1 <= day <= 31)


def match_numeric(shadow: str, start: int, language: str | None) -> DateMatch | None:
    """Match ``2021-03-14``, ``14/03/2021``, ``14. 3. 2021``, ``2022-01-16 14:45:22`` at ``start``."""
    match = _ISO.match(shadow, start)
    if match is not None:
        year, month, day = int(match.group(1)), int(match.group(3)), int(match.group(4))
        if _valid(month, day):
            hour, minute, second = (int(part) if part else None for part in match.group(5, 6, 7))
            if hour is not None and (hour > 24 or (minute or 0) > 59 or (second or 0) > 60):
                return start, match.end(4), PartialDate(year, month, day), None
            return start, match.end(), PartialDate(year, month, day, hour, minute, second), None
    match = _DAY_FIRST.match(shadow, start)
    if match is not None:
        first, second_part, written_year = int(match.group(1)), int(match.group(4)), match.group(5)
        year = int(written_year)
        if len(written_year) == 2:
            if match.group(2) == "-" or match.group(3):
                return None
            year += 2000 if year < 50 else 1900
        return _day_month(match.start(), match.end(), first, second_part, year, match.group(2), language)
    match = _YEAR_MONTH.match(shadow, start)
    # 1901-04 is more often the span of years 1901 to 1904: a month needs a year it could not abbreviate.
    if match is not None and int(match.group(1)) % 100 >= int(match.group(2)):
        return start, match.end(), PartialDate(int(match.group(1)), int(match.group(2))), None
    return None


def _day_month(
    start: int, end: int, first: int, second: int, year: int | None, separator: str, language: str | None
) -> DateMatch | None:
    day_first = _valid(second, first)
    month_first = _valid(first, second) and separator != "."
    if not (day_first or month_first):
        return None
    if day_first and month_first and first != second:
        if language == "en" and separator == "/":
            return start, end, PartialDate(year, first, second, day_month_order_unknown=True), None
        unknown = language is None or language == "en"
        return start, end, PartialDate(year, second, first, day_month_order_unknown=unknown), None
    day, month = (first, second) if day_first else (second, first)
    return start, end, PartialDate(year, month, day), None


def match_day_month(shadow: str, start: int, language: str | None) -> DateMatch | None:
    """Match a day and month without a year, where the digits can hardly be a fraction: ``14/03``."""
    match = _DAY_MONTH.match(shadow, start)
    if match is None or not (match.group(1).startswith("0") or match.group(2).startswith("0")):
        return None
    return _day_month(start, match.end(), int(match.group(1)), int(match.group(2)), None, "/", language)


def match_han(shadow: str, start: int) -> DateMatch | None:
    """Match 1931年3月14日, 1931年, 3月14日, 3月, and Japanese eras such as 令和3年."""
    match = _HAN.match(shadow, start)
    if match is not None:
        year = int(match.group(1))
        begin = start
        era = _ERAS.get(shadow[max(0, start - 2) : start])
        if era is not None:
            year, begin = year + era, start - 2
        elif (
            (len(match.group(1)) < 3 and match.group(2) is None)
            or (shadow[match.end() : match.end() + 1] in ("間", "间", "以", "前", "后", "後") and year < FIRST_YEAR)
            or (
                len(match.group(1)) == 3
                and match.group(2) is None
                and shadow[start - 3 : start] not in _HAN_BEFORE_CHRIST
            )
        ):
            return None
        for prefix in _HAN_BEFORE_CHRIST:
            if shadow.startswith(prefix, start - len(prefix)) and start >= len(prefix):
                year, begin = -year, start - len(prefix)
        month = int(match.group(2)) if match.group(2) else None
        day = int(match.group(3)) if match.group(3) else None
        if month is None or _valid(month, day):
            return begin, len(match.group().rstrip()) + start, PartialDate(year, month, day), None
    match = _HAN_MONTH.match(shadow, start)
    if match is not None and _valid(int(match.group(1)), int(match.group(2)) if match.group(2) else None):
        day = int(match.group(2)) if match.group(2) else None
        return start, start + len(match.group().rstrip()), PartialDate(None, int(match.group(1)), day), None
    return None


def match_before_christ(shadow: str, start: int) -> int | None:
    """Return the end of a BC marker at ``start``."""
    match = _BEFORE_CHRIST.match(shadow, start)
    return match.end() if match else None


def match_anno_domini(shadow: str, start: int) -> int | None:
    """Return the end of an AD marker at ``start``."""
    match = _ANNO_DOMINI.match(shadow, start)
    return match.end() if match else None


def has_han_before_christ(shadow: str, start: int) -> int | None:
    """Return where a preceding 公元前 begins."""
    for prefix in _HAN_BEFORE_CHRIST:
        if start >= len(prefix) and shadow.startswith(prefix, start - len(prefix)):
            return start - len(prefix)
    return None


def match_day_then_month(text: str, shadow: str, start: int, lex: Lexicon) -> DateMatch | None:
    """Match ``14 March 2021``, ``1. Mai 2020``, ``14 de marzo de 2021``, ``14-16 March 2021`` at a digit."""
    match = _DAY_HEAD.match(shadow, start)
    if match is None:
        return _match_year_then_month(shadow, start, lex)
    word = nfc(match.group(3))
    month = lex.months.get(word)
    day = int(match.group(1))
    if month is None or not _valid(month, day):
        return _match_year_then_month(shadow, start, lex)
    end = match.end(3)
    year = None
    tail = _YEAR_TAIL.match(shadow, end)
    if tail is not None:
        year, end = int(tail.group(1)), tail.end()
    elif word in _AMBIGUOUS_WORDS and not text[match.start(3)].isupper() and word not in ("mai", "maj", "mars"):
        return None
    elif word not in lex.full_months and shadow.startswith(".", end):
        end += 1
    date = PartialDate(year, month, day)
    last = replace(date, day=int(match.group(2))) if match.group(2) and _valid(month, int(match.group(2))) else None
    return start, end, date, last


def _match_year_then_month(shadow: str, start: int, lex: Lexicon) -> DateMatch | None:
    match = _YEAR_WORD_DAY.match(shadow, start)
    if match is None:
        return None
    word = nfc(match.group(2))
    month = lex.months.get(word)
    if month is None or word in _AMBIGUOUS_WORDS:
        return None
    day = int(match.group(3)) if match.group(3) else None
    if not _valid(month, day):
        return None
    return start, match.end() if day else match.end(2), PartialDate(int(match.group(1)), month, day), None


def match_month_first(text: str, shadow: str, start: int, end: int, word: str, lex: Lexicon) -> DateMatch | None:
    """Match ``March 14, 2021``, ``May 2020``, ``Sept. 5`` or a bare month after a preposition."""
    month = lex.months[word]
    match = _DAY_AFTER_MONTH.match(shadow, end)
    if (
        match is not None
        and _valid(month, int(match.group(1)))
        and (text[start].isupper() or not shadow.isascii() or word not in _AMBIGUOUS_WORDS)
    ):
        day = int(match.group(1))
        position, year = match.end(), None
        tail = _YEAR_TAIL.match(shadow, position)
        if tail is not None:
            year, position = int(tail.group(1)), tail.end()
        date = PartialDate(year, month, day)
        last = replace(date, day=int(match.group(2))) if match.group(2) and _valid(month, int(match.group(2))) else None
        return start, position, date, last
    tail = _YEAR_TAIL.match(shadow, end)
    if tail is not None and (text[start].isupper() or word not in _AMBIGUOUS_WORDS):
        return start, tail.end(), PartialDate(int(tail.group(1)), month), None
    if word not in lex.full_months or (word in _AMBIGUOUS_WORDS and not text[start].isupper()):
        return None
    if shadow.startswith("-", end):
        return None
    before = shadow[max(0, start - 14) : start].split()
    if before and (before[-1] in _PREPOSITIONS or before[-1].endswith("-")) and shadow[start - 1] in " -":
        return start, end, PartialDate(None, month), None
    return None


def match_clock(shadow: str, start: int, language: str | None) -> tuple[int, PartialDate] | None:
    """Match one clock time at a digit: ``07:40``, ``4.30 p.m.``, ``10 AM``, ``8 o'clock``, ``9h30``."""
    match = _CLOCK.match(shadow, start)
    if match is not None:
        hour, minute = int(match.group(1)), int(match.group(2))
        if hour > 24 or minute > 59:
            return None
        return _with_meridiem(
            shadow, match.end(), hour, minute, int(match.group(3)) if match.group(3) else None, match.group(1)
        )
    match = _DOT_CLOCK.match(shadow, start)
    if match is not None and int(match.group(1)) <= 24 and int(match.group(2)) <= 59:
        hour, minute = int(match.group(1)), int(match.group(2))
        if _MERIDIEM.match(shadow, match.end()) or shadow.startswith((" uhr", "uhr", "h"), match.end()):
            return _with_meridiem(shadow, match.end(), hour, minute, None, match.group(1))
        if shadow[max(0, start - 4) : start] in ("kl. ", " kl ", "klo ", "ore ", "las "):
            return match.end(), PartialDate(hour=hour, minute=minute)
    match = _BARE_HOUR.match(shadow, start)
    if match is None or int(match.group()) > 24:
        return None
    hour = int(match.group())
    if hour <= 12 and _MERIDIEM.match(shadow, match.end()):
        return _with_meridiem(shadow, match.end(), hour, 0, None, match.group())
    clock = _OCLOCK.match(shadow, match.end())
    if clock is not None:
        minute = next((int(part) for part in clock.groups() if part), 30 if clock.group().endswith("半") else 0)
        prefix = shadow[max(0, start - 2) : start]
        if prefix in _HAN_EVENING and hour < 12:
            hour += 12
        unknown = hour <= 12 and prefix not in (*_HAN_MORNING, *_HAN_EVENING) and "uhr" not in clock.group()
        return (clock.end(), PartialDate(hour=hour, minute=minute, half_day_unknown=unknown)) if minute < 60 else None
    return None


def _with_meridiem(
    shadow: str, end: int, hour: int, minute: int, second: int | None, written_hour: str
) -> tuple[int, PartialDate]:
    match = _MERIDIEM.match(shadow, end)
    if match is not None and hour <= 12:
        half = match.group(1) or ("a" if match.group(2) == "vorm" else "p")
        hour = hour % 12 + (12 if half == "p" else 0)
        end = match.end()
        return end, PartialDate(hour=hour, minute=minute, second=second)
    uhr = shadow.startswith((" uhr", "uhr"), end)
    if uhr:
        end += 4 if shadow[end] == " " else 3
    unknown = 1 <= hour <= 12 and not written_hour.startswith("0") and not uhr
    return end, PartialDate(hour=hour, minute=minute, second=second, half_day_unknown=unknown)


def match_range_dash(shadow: str, start: int) -> int | None:
    """Return the end of a dash or ``to`` between two times."""
    match = _RANGE_DASH.match(shadow, start)
    return match.end() if match else None
