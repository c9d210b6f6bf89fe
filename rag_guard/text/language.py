"""The language of a text: by script where the script tells it, else by py3langid on its beginning."""

from __future__ import annotations

from functools import lru_cache

import regex

from rag_guard.text.lexicons.function_words import function_words

_SAMPLE = 300
_LETTERS = regex.compile(r"\p{L}+")
# Scripts that (nearly) one language uses; the value is what a text in that script is, most of the time.
_SCRIPTS = {
    "ja": regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
    "ko": regex.compile(r"\p{Hangul}"),
    "zh": regex.compile(r"\p{Han}"),
    "el": regex.compile(r"\p{Greek}"),
    "th": regex.compile(r"\p{Thai}"),
    "he": regex.compile(r"\p{Hebrew}"),
    "hy": regex.compile(r"\p{Armenian}"),
    "ka": regex.compile(r"\p{Georgian}"),
    "ta": regex.compile(r"\p{Tamil}"),
    "te": regex.compile(r"\p{Telugu}"),
    "bn": regex.compile(r"\p{Bengali}"),
    "gu": regex.compile(r"\p{Gujarati}"),
    "pa": regex.compile(r"\p{Gurmukhi}"),
    "kn": regex.compile(r"\p{Kannada}"),
    "ml": regex.compile(r"\p{Malayalam}"),
}
_SHARED_SCRIPTS = {
    "hi": (regex.compile(r"\p{Devanagari}"), ("hi", "mr", "ne")),
    "ar": (regex.compile(r"\p{Arabic}"), ("ar", "fa", "ur")),
    "ru": (regex.compile(r"\p{Cyrillic}"), ("ru", "uk", "bg", "sr", "mk", "be", "kk", "ky")),
}
_PERSIAN = regex.compile(r"[پچژگکی]")
_ARABIC_ONLY = regex.compile(r"[ةىيكأإ]")
_LATIN_LETTERS_SURE = 40
_CANDIDATES = frozenset("ca cs da de en es et eu fi fr hr hu id it lt lv nl no pl pt ro sk sl sv sw tl tr vi".split())
"""Languages a text in Latin script may be in; rarer ones only attract short texts in none of them."""
_ENGLISH_PRIOR = 12.0
_FUNCTION_WORD = 6.0
"""Nats that a short text gets for being English, and for each function word of a language in it: a model of
letter sequences alone takes a name or two for another language."""


def detect_language(text: str, context: str | None = None) -> str | None:
    """ISO 639-1 code of ``text``, or None if it cannot be told.

    A short text in the script of ``context`` (a document, say) is taken to be in the language of
    ``context``, since a few words give statistics too little to go by.
    """
    own, letters = _guess(text[:_SAMPLE])
    if own is not None and letters >= _LATIN_LETTERS_SURE:
        return own
    if letters == 0 and not _LETTERS.search(text[:_SAMPLE]):
        return _guess(context[:_SAMPLE])[0] if context else None
    if context:
        other, _ = _guess(context[:_SAMPLE])
        script = _script(own) if own is not None else "latin"
        if other is not None and script == _script(other):
            return _guess(f"{text} {context}"[:_SAMPLE])[0] or other
    return own


@lru_cache(maxsize=256)
def _guess(sample: str) -> tuple[str | None, int]:
    """The language of a sample and a count of letters that says how far to trust it."""
    letters = "".join(_LETTERS.findall(sample))
    if not letters:
        return None, 0
    if not letters.isascii():
        for language, script in _SCRIPTS.items():
            count = len(script.findall(letters))
            needed = 0.1 if language == "ja" else 0.3
            if count and count >= needed * len(letters):
                return language, len(letters) * 4
        for language, (script, languages) in _SHARED_SCRIPTS.items():
            count = len(script.findall(letters))
            if count and count >= 0.3 * len(letters):
                if language == "ar" and len(letters) < _LATIN_LETTERS_SURE:
                    persian = len(_PERSIAN.findall(letters)) > len(_ARABIC_ONLY.findall(letters))
                    return ("fa" if persian else "ar"), len(letters)
                return _classify(sample, languages) or language, len(letters) * 2
    if len(letters) < 8:
        return None, len(letters)
    return _classify(sample, None), len(letters)


def _script(language: str) -> str:
    for name, (_, languages) in _SHARED_SCRIPTS.items():
        if language in languages:
            return name
    return language if language in _SCRIPTS else "latin"


def _classify(sample: str, languages: tuple[str, ...] | None) -> str | None:
    # Loading the model takes a fifth of a second, so only a text that needs it pays.
    import py3langid

    sample = _surrogate_free(sample)
    if languages is not None:
        return next((str(label) for label, _ in py3langid.rank(sample) if label in languages), None)
    scores = {str(label): float(score) for label, score in py3langid.rank(sample) if label in _CANDIDATES}
    if len(sample) < 4 * _LATIN_LETTERS_SURE:
        scores["en"] += _ENGLISH_PRIOR
        words = {word.casefold() for word in _LETTERS.findall(sample)}
        for language in sorted(scores, key=lambda label: -scores[label])[:4]:
            scores[language] += _FUNCTION_WORD * len(words & function_words(language))
    return max(scores, key=lambda label: scores[label])


def _surrogate_free(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
