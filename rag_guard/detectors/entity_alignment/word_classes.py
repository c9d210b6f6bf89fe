"""What kind of commitment a word is: name, noun, verb, modifier, number, negation, pronoun or function word.

A spaCy pipeline tells where one is installed for the language. Elsewhere the documented fallback reads capitals,
word lists and, for English, endings; it treats every other content word as a noun.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

from rag_guard.models.linguistic import Pipeline
from rag_guard.text.analysis import Analysis
from rag_guard.text.lexicons.negation import NEGATIONS
from rag_guard.text.lexicons.pronouns import PRONOUNS
from rag_guard.text.words import Word


class WordClass(Enum):
    """The class of one word of an answer."""

    NAME = "name"
    NOUN = "noun"
    VERB = "verb"
    MODIFIER = "modifier"
    NUMBER = "number"
    NEGATION = "negation"
    PRONOUN = "pronoun"
    FUNCTION = "function"


class WordClassifier(Protocol):
    """Gives every word of every answer its class, a batch at a time.

    Attributes:
        languages: ISO 639-1 codes that it knows more of than capitals and word lists.
    """

    languages: frozenset[str]

    def classify(self, analyses: Sequence[Analysis]) -> list[list[WordClass]]:
        """One list per analysis with one class per word of ``analysis.words``."""
        ...


class RuleClassifier:
    """The fallback for every language, from capitals, closed-class word lists and English endings."""

    languages: frozenset[str] = frozenset()

    def classify(self, analyses: Sequence[Analysis]) -> list[list[WordClass]]:
        """See :class:`WordClassifier`."""
        return [self._classify(analysis) for analysis in analyses]

    def _classify(self, analysis: Analysis) -> list[WordClass]:
        words, language = analysis.words, analysis.language
        initial = _sentence_initial(analysis)
        classes = [closed_class(word, language) or WordClass.NOUN for word in words]
        for start, end in analysis.references:
            for i, word in enumerate(words):
                if start <= word.start and word.end <= end:
                    classes[i] = WordClass.FUNCTION
        for i, word in enumerate(words):
            if classes[i] is not WordClass.NUMBER and analysis.is_word_claim(i):
                classes[i] = WordClass.NOUN  # an answer of one word commits to it, whatever its class
            if classes[i] is not WordClass.NOUN and not (
                classes[i] is WordClass.FUNCTION and word.text.isupper() and word.text.isalpha() and len(word.text) > 1
            ):
                continue
            if word.text[0].isdigit():
                classes[i] = WordClass.NUMBER if word.text.isdigit() else WordClass.NAME
            elif self._is_name(analysis, i, initial, language):
                classes[i] = WordClass.NAME
            elif language == "en" and classes[i] is WordClass.NOUN:
                classes[i] = _english_class(word)
        return classes

    @staticmethod
    def _is_name(analysis: Analysis, i: int, initial: set[int], language: str | None) -> bool:
        word = analysis.words[i]
        if not word.text[0].isupper():
            return any(char.isupper() for char in word.text[1:])
        following = analysis.words[i + 1] if i + 1 < len(analysis.words) else None
        chained = (
            following is not None
            and following.text[0].isupper()
            and not following.is_function
            and analysis.answer[word.end : following.start] in (" ", "-", ". ", "’", "'", "&")
        )
        if language == "de":
            return chained or (word.text.isupper() and len(word.text) > 1)
        if i in initial and not analysis.is_word_claim(i):
            # A sentence's first word proves nothing by its capital; the documents may know it as a name.
            return chained or (word.text.isupper() and len(word.text) > 1) or analysis.corpus.is_cased_name(word.norm)
        return True


def closed_class(word: Word, language: str | None) -> WordClass | None:
    """Negation, pronoun or function word by the word lists of the language, else None."""
    if word.norm in NEGATIONS.get(language or "", ()) or word.norm.endswith("n't"):
        return WordClass.NEGATION
    if word.norm in PRONOUNS.get(language or "", ()):
        return WordClass.PRONOUN
    if word.is_function or not any(char.isalnum() for char in word.text):
        return WordClass.FUNCTION
    return None


def _english_class(word: Word) -> WordClass:
    if word.norm.endswith("ly") and len(word.norm) > 4:
        return WordClass.MODIFIER
    if word.norm.endswith(("ed", "ing")) and len(word.norm) > 4:
        return WordClass.VERB
    return WordClass.NOUN


def _sentence_initial(analysis: Analysis) -> set[int]:
    """Indices of words that open a claim, its sentence, a quotation, a line or what follows a colon."""
    initial: set[int] = set()
    starts = {claim.start for claim in analysis.claims} | {claim.context_start for claim in analysis.claims}
    for i, word in enumerate(analysis.words):
        gap = analysis.answer[analysis.words[i - 1].end : word.start] if i else analysis.answer[: word.start]
        if (
            i == 0
            or word.start in starts
            or any(char in gap for char in '\n:"“„«•*|#')
            or (gap.strip()[:1] in (".", "!", "?") and not _is_initial(analysis.words[i - 1]))
        ):
            initial.add(i)
    return initial


def _is_initial(word: Word) -> bool:
    """Whether a full point behind a word may abbreviate a first name: the M. of Ana M. Costa."""
    return len(word.text) == 1 and word.text.isupper()


_TAG_CLASSES = {
    "PROPN": WordClass.NAME,
    "NOUN": WordClass.NOUN,
    "VERB": WordClass.VERB,
    "AUX": WordClass.VERB,
    "ADJ": WordClass.MODIFIER,
    "ADV": WordClass.MODIFIER,
}


class TaggedClassifier:
    """Classes from the part-of-speech tags of a spaCy pipeline, over all answers of its language in a batch at once.

    Answers in other languages get the fallback's classes.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._fallback = RuleClassifier()
        self.languages = frozenset({pipeline.language})

    def classify(self, analyses: Sequence[Analysis]) -> list[list[WordClass]]:
        """See :class:`WordClassifier`."""
        result = self._fallback.classify(analyses)
        own = [i for i, analysis in enumerate(analyses) if analysis.language in self.languages]
        tagged = self._pipeline.tag([_encodable(analyses[i].answer) for i in own])
        for i, tags in zip(own, tagged, strict=True):
            result[i] = [
                _TAG_CLASSES.get(tags.get(word.start, ""), by_rule) if by_rule in _OPEN else by_rule
                for word, by_rule in zip(analyses[i].words, result[i], strict=True)
            ]
        return result


_OPEN = frozenset({WordClass.NOUN, WordClass.VERB, WordClass.MODIFIER})


def _encodable(text: str) -> str:
    """``text`` with lone surrogates, which spaCy cannot hash, replaced one for one."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
