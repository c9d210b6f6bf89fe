"""Codes that contain digits but are no amounts: versions, part numbers, phone numbers, addresses."""

from __future__ import annotations

import re

_PHONE = re.compile(
    r"\+\d{1,3}(?:[ .-]?\(?\d{1,5}\)?){2,5}|\(\d{2,5}\) ?\d{2,5}[ .-]?\d{2,6}|"
    r"\d{1,4}(?:-\d{2,5}){2,4}(?![\d-])|\d{3}[.]\d{3}[.]\d{4}(?!\d)"
)
_DOTTED = re.compile(r"\d+(?:\.\d+){2,}(?:[-+.]?(?:alpha|beta|rc|dev|post|a|b)\.?\d*)?(?:/\d{1,2})?(?!\d)")
_TAIL = re.compile(r"(?:[a-z0-9_]|[-./:+](?=[a-z0-9_]{0,40}\d))*(?:@[a-z0-9.-]*[a-z0-9])?")
_SLASHED = re.compile(r"(?:24/7(?:/365)?|9/11)(?![\d/])")
_LATIN_BEFORE = re.compile(r"[a-z0-9_.+-]*\Z")
_REACH = 64
VERSION_WORDS = frozenset(
    "version versions versión versione versão versie verzia verze ver ver. release build v v. verzió iso rfc".split()
)
_LOWER_PREFIXES = frozenset(
    "mid early late pre post non circa ca c sub anti under over around about until since "
    "from between with near after before page pages chapter age aged".split()
)


def match_number_like(shadow: str, start: int) -> int | None:
    """Return the end of a code made of digits and separators only: a phone number, ``2.3.1``, ``24/7``."""
    for pattern in (_SLASHED, _DOTTED, _PHONE):
        match = pattern.match(shadow, start)
        if match is not None:
            return match.end()
    return None


def match_phone(shadow: str, start: int) -> int | None:
    """Return the end of a phone number that begins with a plus sign or a bracket at ``start``."""
    match = _PHONE.match(shadow, start)
    return match.end() if match is not None else None


def extend_left(text: str, shadow: str, start: int) -> int:
    """Return where a code that ends left of ``start`` begins (``v2``, ``COVID-19``), else ``start``."""
    if start == 0:
        return start
    previous = shadow[start - 1]
    if not (previous.isascii() and (previous.isalpha() or previous in "-_")):
        return start
    lower = max(0, start - _REACH)
    match = _LATIN_BEFORE.search(shadow, lower, start)
    if match is None:
        return start
    begin = match.start()
    while begin < start and shadow[begin] in "-_.+":
        begin += 1
    if begin == start:
        return start
    if previous == "-":
        prefix = text[begin : start - 1]
        letters = prefix.rpartition("-")[2]
        named = letters.isupper() or (
            letters[:1].isupper() and letters.lower() not in _LOWER_PREFIXES and len(letters) <= 12
        )
        # covid-19 is a name, top-10 and pre-2000 are words before a number.
        named = named or (
            len(letters) > 3 and start - begin > 4 and letters.isalpha() and letters not in _LOWER_PREFIXES
        )
        return begin if named else start
    return begin


def extend_right(shadow: str, end: int) -> int:
    """Return the end of the code that continues after ``end``."""
    match = _TAIL.match(shadow, end)
    return match.end() if match is not None else end


def canonical(text: str) -> str:
    """Return a code without the differences of notation: case, spaces, hyphens, a leading ``v``."""
    folded = "".join(char for char in text.lower() if char.isalnum() or char in "./:")
    return folded[1:] if folded[:1] == "v" and folded[1:2].isdigit() else folded
