"""Finding the unit after a number, and converting between units with Pint."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

import numpy as np

from rag_guard.text.quantities.folding import nfc
from rag_guard.text.quantities.lexicon import CURRENCY_SIGNS, Lexicon, Unit, is_han

MARKUP = r"(?:\*\*|__|[*_`~]|</?(?:b|i|em|strong|u|span)>)*"
_GAP = re.compile(MARKUP + r"([ \t]?)" + MARKUP + r"(-?)" + MARKUP)
_MARKS = r"\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u064b-\u065f\u0670\u200c\u200d"
# Python counts superscripts and fractions among the word characters.
_LETTER = r"[^\W\d_\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u218b]"
LETTERS = rf"(?:{_LETTER}[{_MARKS}]*)+"
_WORD = re.compile(LETTERS)
_NEXT_WORD = re.compile(rf"\.?[ -]({LETTERS})")
_SLASH = re.compile(rf"/({LETTERS})([²³]|\^?[23](?!\d|[.,]\d))?")
_EXPONENT = re.compile(r"[²³]|\^?[23](?!\w|[.,]\d)")
_DEGREE = re.compile(r"° ?([cfk])(?![a-z])")
_POWERS = {"²": "**2", "³": "**3", "2": "**2", "3": "**3", "^2": "**2", "^3": "**3"}

# Symbols that are also words, initials or list letters: accepted only where nothing else can be meant.
_NEEDS_CONTACT = frozenset("K C F B J N A V W d t T au AU us AM PM pt pc mo Cal sec ct kt um".split())
_ENGLISH_BLOCKED = frozenset(
    "won ale fat let sol nit nat pie any ore dec da cal lev wat gau gra fw mp uns oma om tun "
    "nus ien peu mil lat noc sun rand real mes tag dies ora sol minimi "
    "fot fod don as main sten fun dia time times timer punt light".split()
)
_INCH_CONTEXT = re.compile(r"(?:\.|(?= (?:by|x|×|wide|tall|long|deep|high|thick|of rain|in diameter)\b))")


class UnitMatch:
    """A unit found in the text, with its offsets."""

    __slots__ = ("end", "start", "unit")

    def __init__(self, start: int, end: int, unit: Unit) -> None:
        self.start, self.end, self.unit = start, end, unit


def skip_gap(shadow: str, position: int, *, hyphen: bool = True) -> tuple[int, bool]:
    """Return the position after markup and at most one space or hyphen, and whether anything was skipped."""
    match = _GAP.match(shadow, position)
    if match is None:  # pragma: no cover - the pattern matches the empty string
        return position, False
    if match.group(2) and not hyphen:
        return match.start(2), bool(match.group(1))
    return match.end(), bool(match.group(1) or match.group(2))


def find_unit(text: str, shadow: str, position: int, lex: Lexicon, language: str | None) -> UnitMatch | None:
    """Return the unit that follows a number ending at ``position``."""
    start, separated = skip_gap(shadow, position)
    if start >= len(shadow):
        return None
    char = shadow[start]
    hyphenated = shadow[start - 1] == "-" and start > position
    if hyphenated and start - 1 > position and shadow[start - 2] == " ":
        return None
    if char == "%":
        return None if hyphenated else UnitMatch(start, start + 1, Unit("percent", "percent"))
    if char == "‰":
        return UnitMatch(start, start + 1, Unit("permille", "percent"))
    if char == "°":
        match = _DEGREE.match(shadow, start)
        if match is not None:
            name = {"c": "degree_Celsius", "f": "degree_Fahrenheit", "k": "kelvin"}[match.group(1)]
            return UnitMatch(start, match.end(), Unit(name, "measure"))
        return UnitMatch(start, start + 1, Unit("degree", "measure"))
    if char in "℃℉":
        return UnitMatch(start, start + 1, Unit("degree_Celsius" if char == "℃" else "degree_Fahrenheit", "measure"))
    if char in CURRENCY_SIGNS and not hyphenated:
        following = shadow[start + 1 : start + 2]
        return None if following.isdigit() else UnitMatch(start, start + 1, Unit(CURRENCY_SIGNS[char], "money"))
    if char == '"' and not separated and not hyphenated:
        return None
    if is_han(char):
        return _find_han(shadow, start, lex)
    if hyphenated or separated or start == position or shadow[position : position + 1] in "*_`<~":
        return _find_word(text, shadow, start, lex, language, attached=start == position, hyphenated=hyphenated)
    return None


def _find_han(shadow: str, start: int, lex: Lexicon) -> UnitMatch | None:
    for length in range(min(8, len(shadow) - start), 0, -1):
        unit = lex.han_units.get(shadow[start : start + length])
        if unit is not None:
            return UnitMatch(start, start + length, unit)
    return None


def _find_word(
    text: str,
    shadow: str,
    start: int,
    lex: Lexicon,
    language: str | None,
    *,
    attached: bool,
    hyphenated: bool,
) -> UnitMatch | None:
    match = _WORD.match(shadow, start)
    if match is None:
        return None
    end = match.end()
    word = nfc(match.group())
    if word in lex.phrase_starts:
        found = _find_phrase(shadow, start, end, word, lex)
        if found is not None:
            return found
    written = nfc(text[start:end])
    unit = _lookup(written, word, lex, language, attached=attached)
    if unit is None:
        if word == "in" and (attached or hyphenated or _INCH_CONTEXT.match(shadow, end)):
            return UnitMatch(start, end, Unit("inch", "measure", "length"))
        code = lex.codes.get(written)
        if code is not None and not hyphenated:
            return UnitMatch(start, end, code)
        if attached and written in ("C", "F") and not shadow[end : end + 1].isalnum():
            return UnitMatch(start, end, Unit("degree_Celsius" if written == "C" else "degree_Fahrenheit", "measure"))
        if word in ("x",) or not shadow.startswith("/", end):
            return None
    exponent = _EXPONENT.match(shadow, end) if unit is not None and unit.kind == "measure" else None
    name = unit.name if unit else written
    if exponent is not None:
        name, end = name + _POWERS[exponent.group()], exponent.end()
    elif shadow[end : end + 1].isdigit():
        return None
    slash = _SLASH.match(shadow, end)
    if slash is not None and unit is not None and unit.kind == "measure":
        below = _lookup(nfc(text[slash.start(1) : slash.end(1)]), nfc(slash.group(1)), lex, language, attached=True)
        if below is not None and below.kind == "measure":
            power = _POWERS[slash.group(2)] if slash.group(2) else ""
            return UnitMatch(start, slash.end(), Unit(f"{name}/{below.name}{power}", "measure"))
    if unit is None:
        return None
    if name != unit.name:
        unit = Unit(name, unit.kind)
    return UnitMatch(start, end, unit)


def _find_phrase(shadow: str, start: int, end: int, word: str, lex: Lexicon) -> UnitMatch | None:
    phrase, best, position = word, None, end
    for _ in range(3):
        match = _NEXT_WORD.match(shadow, position)
        if match is None:
            break
        dot = "." if shadow[position] == "." else ""
        phrase, position = f"{phrase}{dot} {nfc(match.group(1))}", match.end()
        unit = lex.phrases.get(phrase)
        if unit is not None:
            best = UnitMatch(start, position, unit)
    return best


def _lookup(written: str, word: str, lex: Lexicon, language: str | None, *, attached: bool) -> Unit | None:
    symbol = lex.symbols.get(written)
    if symbol is not None:
        if attached or written not in _NEEDS_CONTACT:
            return symbol
        return None
    if word in _ENGLISH_BLOCKED and language in (None, "en"):
        return None
    unit = lex.words.get(word)
    if unit is None and len(word) > 4 and word.endswith("n"):
        unit = lex.words.get(word[:-1])
    return unit


@lru_cache(maxsize=1)
def _registry() -> Any:
    from pint import UnitRegistry

    registry: Any = UnitRegistry(cache_folder=None)
    for definition in ("percentage_point = 0.01", "metric_ton = 1000 * kilogram = t", "karat = 1/24"):
        name = definition.split(" ")[0]
        if name not in registry:
            registry.define(definition)
    return registry


@lru_cache(maxsize=4096)
def conversion(source: str, target: str) -> tuple[float, float] | None:
    """Return (factor, offset) with ``target = factor * source + offset``, or ``None`` across dimensions."""
    if source == target:
        return 1.0, 0.0
    try:
        registry = _registry()
        with np.errstate(divide="ignore"):
            zero = float(registry.Quantity(0.0, source).to(target).magnitude)
            one = float(registry.Quantity(1.0, source).to(target).magnitude)
    except Exception:
        # Pint raises many kinds of errors for units it does not know; all mean that no conversion exists.
        return None
    # Logarithmic units, such as decibels, convert by no factor.
    return (one - zero, zero) if math.isfinite(zero) and math.isfinite(one) else None
