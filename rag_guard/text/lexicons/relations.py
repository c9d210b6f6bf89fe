"""Relations between words: antonyms, synonyms, derived words, and words that exclude each other in one slot.

English comes from WordNet 3.0 (Fellbaum, 1998; see ``data/WORDNET-LICENSE.txt`` and
``benchmarks/build_lexicon.py``) with hand-made lists of frequent opposites and synonyms; other languages have
hand-made lists alone. Weekdays, months and continents in every language come from the Unicode CLDR through
Babel. All functions take words in any case, inflected or not, are symmetrical, and answer False or None for
words and languages that they do not know.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from functools import lru_cache
from importlib.resources import files

from rag_guard.text.words import normalize, stem_words

_CACHED_PAIRS = 65_536
_CONTINENTS = {"002": "africa", "003": "america", "005": "america", "019": "america", "009": "oceania",
               "142": "asia", "150": "europe"}  # fmt: skip
# Endings of English inflections and what stands in their place in the lemma, as in WordNet's Morphy.
_ENDINGS = (
    ("ies", "y"), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"),
    ("es", "e"), ("es", ""), ("s", ""), ("ied", "y"), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ("ier", "y"), ("iest", "y"), ("er", "e"), ("er", ""), ("est", "e"), ("est", ""),
)  # fmt: skip


@lru_cache(maxsize=_CACHED_PAIRS)
def are_antonyms(a: str, b: str, language: str | None = "en") -> bool:
    """Whether the words are opposites: increased and decreased, open and closed, vor and nach.

    ``language`` is an ISO 639-1 code; None reads as English.
    """
    one, other = _forms(a, language), _forms(b, language)
    if one & other:
        return False
    left, right = _sides(one, language), _sides(other, language)
    if left & right:
        return False  # "won" and "defeated" are, though a victory and a defeat are not, the same
    if any(side ^ 1 in right for side in left):
        return True
    if language in (None, "en") and not _linked("synonyms", one, other):
        return _linked("antonyms", one, other)
    return False


@lru_cache(maxsize=_CACHED_PAIRS)
def are_synonyms(a: str, b: str, language: str | None = "en") -> bool:
    """Whether the words are forms of one lemma (led, lead) or mean nearly the same (increase, rise)."""
    one, other = _forms(a, language), _forms(b, language)
    if one & other:
        return True
    if language in (None, "en") and _linked("synonyms", one, other):
        return True
    left, right = _sides(one, language), _sides(other, language)
    return bool(left & right) and not any(side ^ 1 in right for side in left)


@lru_cache(maxsize=_CACHED_PAIRS)
def are_related(a: str, b: str, language: str | None = "en") -> bool:
    """Whether the words are synonyms, or one is derived from the other: withdraw and withdrawal.

    Derived words speak of the same thing without being interchangeable. Only English has them.
    """
    if are_synonyms(a, b, language):
        return True
    return language in (None, "en") and _linked("derived", _forms(a, language), _forms(b, language))


@lru_cache(maxsize=_CACHED_PAIRS)
def are_exclusive(a: str, b: str, language: str | None = "en") -> str | None:
    """The class (``colour``, ``weekday``, ``medal``) of which the words are two different members, else None.

    In one slot of one statement, one member of a class excludes the others: what is silver is not gold.
    """
    classes = _exclusive(language or "en")
    one, other = _forms(a, language), _forms(b, language)
    if one & other:
        return None
    members = {member for form in one for member in classes.get(form, ())}
    others = {member for form in other for member in classes.get(form, ())}
    if members & others:
        return None
    names = {name for name, _ in members}
    return next((name for name, _ in sorted(others) if name in names), None)


def irregular_lemmas() -> dict[str, str]:
    """Irregular English inflections and their lemmas, the first separated by a space from further ones."""
    return _table("irregular")


def _linked(relation: str, one: frozenset[str], other: frozenset[str]) -> bool:
    table = _table(relation)
    return any(
        right in table.get(left, "").split() or left in table.get(right, "").split() for left in one for right in other
    )


def _sides(forms: frozenset[str], language: str | None) -> set[int]:
    opposites = _opposites(language or "en")
    return {side for form in forms for side in opposites.get(form, ())}


@lru_cache(maxsize=_CACHED_PAIRS)
def _forms(word: str, language: str | None) -> frozenset[str]:
    """The word and what it may be an inflection of; outside English, its stem."""
    norm = normalize(word.strip())
    if language not in (None, "en"):
        return frozenset((norm, "=" + stem_words([norm], language)[0]))
    known = _english_words()
    forms = {norm}
    forms.update(_table("irregular").get(norm, "").split())
    if norm.endswith("'s"):
        forms.add(norm[:-2])
    for ending, replacement in _ENDINGS:
        if norm.endswith(ending) and len(norm) - len(ending) > 1:
            base = norm[: -len(ending)] + replacement
            if base in known:
                forms.add(base)
    return frozenset(forms)


@lru_cache(maxsize=1)
def _sections() -> dict[str, str]:
    """Name of a section of the English data file -> its lines."""
    source = gzip.decompress((files(__package__) / "data" / "english.txt.gz").read_bytes()).decode("ascii")
    parts = (section.partition("]\n") for section in source.split("[")[1:])
    return {name: body for name, _, body in parts}


@lru_cache(maxsize=8)
def _table(section: str) -> dict[str, str]:
    """Word -> related words, separated by spaces; each pair once, under the word that sorts first."""
    return dict([line.split("\t", 1) for line in _sections()[section].splitlines()])


@lru_cache(maxsize=1)
def _english_words() -> frozenset[str]:
    words: set[str] = set()
    for name in ("antonyms", "synonyms", "derived"):
        words.update(_sections()[name].split())
    words.update(_opposites("en"), _listed_classes("en"))
    return frozenset(words)


@lru_cache(maxsize=32)
def _opposites(language: str) -> dict[str, tuple[int, ...]]:
    """Word -> the groups of near-synonyms it is in; groups 2n and 2n + 1 are opposites."""
    sides: defaultdict[str, set[int]] = defaultdict(set)
    for number, line in enumerate((*_lines("opposites", language), *_lines("synonyms", language))):
        for offset, side in enumerate(line.split("\t")):
            for form in _listed_forms(side.split(","), language):
                sides[form].add(2 * number + offset)
    return {word: tuple(sorted(numbers)) for word, numbers in sides.items()}


@lru_cache(maxsize=32)
def _exclusive(language: str) -> dict[str, set[tuple[str, int]]]:
    """Word -> (class, number of the member in it)."""
    members = defaultdict(set, {word: set(classes) for word, classes in _listed_classes(language).items()})
    for name, number, word in _calendar(language):
        for form in _listed_forms([word], language):
            members[form].add((name, number))
    return dict(members)


@lru_cache(maxsize=32)
def _listed_classes(language: str) -> dict[str, set[tuple[str, int]]]:
    members: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    for line in _lines("exclusive", language):
        name, _, listed = line.partition("\t")
        for number, member in enumerate(listed.split(";")):
            for form in _listed_forms(member.split(","), language):
                members[form].add((name, number))
    return dict(members)


def _listed_forms(words: list[str], language: str) -> list[str]:
    norms = [normalize(word.strip()) for word in words if word.strip()]
    if language == "en":
        return norms
    # Stems are marked, so that a stem never meets another word that happens to be spelled like it.
    return [*norms, *("=" + stem for stem in stem_words(norms, language))]


def _lines(folder: str, language: str) -> list[str]:
    source = files(__package__) / "data" / folder / f"{language}.tsv"
    return source.read_text("utf-8").splitlines() if source.is_file() else []


def _calendar(language: str) -> list[tuple[str, int, str]]:
    """Weekdays, months and continents in the language, from the CLDR."""
    from babel import Locale, UnknownLocaleError

    try:
        locale = Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        return []
    found: list[tuple[str, int, str]] = []
    for name, table in (("weekday", locale.days), ("month", locale.months)):
        for context in ("format", "stand-alone"):
            found.extend((name, int(number), str(word)) for number, word in table[context]["wide"].items())
    names = sorted(set(_CONTINENTS.values()))
    found.extend(
        ("continent", names.index(continent), locale.territories[code])
        for code, continent in _CONTINENTS.items()
        if code in locale.territories
    )
    return found
