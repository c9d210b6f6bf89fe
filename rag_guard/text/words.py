"""Words with exact offsets, their normal form and stem: the grid on which risks live, and the unit of lexical matching.

Scripts written without spaces (Han, Thai, ...) have one word per character, so that spans can start anywhere in a run;
whoever matches them compares runs (see ``entity_alignment``).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import regex

from rag_guard.text.lexicons.function_words import function_words

_UNSPACED = r"\p{Han}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
# Alternatives in order: a number with its inner separators; one character of a script without spaces; a Kana run;
# a run of letters with inner apostrophes and full points between single letters (U.S.).
_WORD = regex.compile(
    rf"""\p{{Nd}}+(?:[.,:’'٫٬]\p{{Nd}}+)*
    |[{_UNSPACED}]\p{{M}}*
    |\p{{Hiragana}}+|[\p{{Katakana}}ー]+
    |(?:\p{{Lu}}\.){{2,}}
    |[[\p{{L}}\p{{M}}\p{{Nd}}\p{{No}}\p{{Nl}}]--[{_UNSPACED}\p{{Hiragana}}\p{{Katakana}}]]+
     (?:['’ʼ][[\p{{L}}\p{{M}}]--[{_UNSPACED}\p{{Hiragana}}\p{{Katakana}}]]+)*
    |[%‰°€$£¥₹]""",
    regex.VERBOSE | regex.VERSION1,
)
_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "nb": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish", "yi": "yiddish",
}  # fmt: skip


class Word(NamedTuple):
    """One word: ``text == source[start:end]``; ``norm`` is NFKC and case-folded; ``stem`` is for matching only."""

    start: int
    end: int
    text: str
    norm: str
    stem: str
    is_function: bool


def find_words(text: str, language: str | None = None) -> list[Word]:
    """All words of ``text`` in order.

    ``language`` (ISO 639-1) picks the Snowball stemmer and the stop-word list; without it stems are the normal forms
    and only one-character Latin words and Kana particles count as function words.
    """
    matches = list(_WORD.finditer(text))
    norms = [normalize(match.group()) for match in matches]
    stems = stem_words(norms, language)
    functions = function_words(language)
    return [
        Word(
            match.start(),
            match.end(),
            match.group(),
            norm,
            stem,
            norm in functions or _is_particle(norm) or _without_elision(norm, language) in functions,
        )
        for match, norm, stem in zip(matches, norms, stems, strict=True)
    ]


def normalize(word: str) -> str:
    """The normal form of a word: compatibility-composed, case-folded, without possessive ending and curly quotes."""
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word).replace("’", "'").replace("ʼ", "'")
    word = word.casefold()
    if word.endswith("'s"):
        word = word[:-2]
    return word.replace(".", "") if "." in word and not any(c.isdigit() for c in word) else word


def stem_words(norms: list[str], language: str | None) -> list[str]:
    """Snowball stems of normal forms, or the normal forms themselves where the language has no stemmer.

    English irregular forms go to their lemma first: led and lead are one word.
    """
    stem = _stemmer(language)
    if stem is None:
        return norms
    if language == "en":
        irregular = _irregular()
        norms = [irregular.get(norm, norm) for norm in norms]
    return stem(norms)


@lru_cache(maxsize=1)
def _irregular() -> dict[str, str]:
    from rag_guard.text.lexicons.relations import irregular_lemmas

    return {form: lemmas.split()[0] for form, lemmas in irregular_lemmas().items()}


def is_unspaced(char: str) -> bool:
    """Whether a character belongs to a script that is written without spaces between words."""
    return bool(_UNSPACED_CHAR.match(char))


_UNSPACED_CHAR = regex.compile(rf"[{_UNSPACED}]")
_HIRAGANA = regex.compile(r"\p{Hiragana}+\Z")


def _is_particle(norm: str) -> bool:
    return bool(_HIRAGANA.match(norm)) if not norm.isascii() else False


_ELIDING = frozenset({"fr", "it", "ca"})
_ELIDED = frozenset({"n", "c", "s", "j", "m", "t", "qu"})  # pronouns and particles: n'est, qu'il, c'era


def _without_elision(norm: str, language: str | None) -> str | None:
    """What stands behind an elided pronoun or particle, or None."""
    if language not in _ELIDING or "'" not in norm:
        return None
    elided, _, rest = norm.partition("'")
    return rest if elided in _ELIDED else None


@lru_cache(maxsize=64)
def _stemmer(language: str | None) -> Callable[[list[str]], list[str]] | None:
    name = _STEMMERS.get(language or "")
    if name is None:
        return None
    import threading

    import Stemmer

    # A PyStemmer object keeps a buffer and is not safe to share between threads.
    local = threading.local()

    def stem(norms: list[str]) -> list[str]:
        stemmer = getattr(local, "stemmer", None)
        if stemmer is None:
            stemmer = local.stemmer = Stemmer.Stemmer(name)
        stems: list[str] = stemmer.stemWords(norms)
        return stems

    return stem
