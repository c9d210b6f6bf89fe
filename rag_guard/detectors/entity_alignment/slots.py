"""What a value is about: the slot it fills, as the words around it, so that two values can be asked to be one fact.

``12,000`` in one row of a table and in one sentence of an answer state the same fact only if the words around them
agree: the slot of an answer's mention is compared with the slot of a candidate in a window.
"""

from __future__ import annotations

from dataclasses import dataclass

from rag_guard.detectors.entity_alignment.mentions import AnswerMention
from rag_guard.detectors.entity_alignment.similarity import WordSimilarity
from rag_guard.detectors.entity_alignment.word_classes import WordClass
from rag_guard.text.analysis import Analysis
from rag_guard.text.corpus import Corpus
from rag_guard.text.quantities import Agreement, Quantity, compare
from rag_guard.text.words import Word

_ANSWER_DECAY = 4.0  # words
_DOCUMENT_DECAY = 8.0
_OUTSIDE_CLAIM = 0.25
_NAME_BOOST = 2.0
_FURTHER_NAME = 0.6  # a name behind another name is more likely the other's subject
_ANTECEDENT = 0.75
_UNKNOWN, _UNKNOWN_NAME = 0.1, 0.3  # a word that no document has cannot tell one place of them from another
_IN_CONTEXT = 0.7
_IN_NEIGHBOUR = 0.4
_OTHER_FIELD = 0.1
_MEANT = 0.5  # similarity from which a field's name can be said in another word


@dataclass(frozen=True)
class AnswerSlot:
    """The weighted words and quantities around a mention of the answer."""

    words: tuple[tuple[Word, float], ...]
    quantities: tuple[tuple[Quantity, float], ...]

    @property
    def weight(self) -> float:
        """The sum of all weights."""
        return sum(weight for _, weight in self.words) + sum(weight for _, weight in self.quantities)


def answer_slot(
    analysis: Analysis, mention: AnswerMention, classes: list[WordClass], *, question: bool = True
) -> AnswerSlot:
    """The slot of a mention: the words of its sentence, nearer ones weigh more, names twice.

    A claim of a single value takes its slot from the question.
    """
    claim = analysis.claims[mention.claim]
    first, last = mention.words[0], mention.words[-1]
    words: list[tuple[Word, float]] = []
    sentence = analysis.words_in(claim.context_start, claim.context_end)
    in_quantity = analysis.quantity_words
    for i in sentence:
        word = analysis.words[i]
        if first <= i <= last or i in in_quantity:
            continue
        if classes[i] in (WordClass.FUNCTION, WordClass.PRONOUN, WordClass.NEGATION):
            continue
        distance = first - i if i < first else i - last
        weight = analysis.corpus.idf(word.stem) / (1 + (distance - 1) / _ANSWER_DECAY)
        if classes[i] is WordClass.NAME:
            weight *= _NAME_BOOST if _is_nearest_name(classes, i, first, last) else _FURTHER_NAME
        if not claim.start <= word.start < claim.end:
            weight *= _OUTSIDE_CLAIM
        if not analysis.corpus.has_stem(word.stem):
            weight *= _UNKNOWN_NAME if classes[i] is WordClass.NAME else _UNKNOWN
        words.append((word, weight))
    words.extend(
        (Word(0, 0, stem, stem, stem, False), analysis.corpus.idf(stem) * _ANTECEDENT) for stem in mention.antecedent
    )
    if not words and question:
        words = [(w, analysis.corpus.idf(w.stem)) for w in analysis.question_words if not w.is_function]
    quantities = tuple(
        (
            q,
            (1.0 if claim.start <= q.start < claim.end else _OUTSIDE_CLAIM)
            / (1 + _words_between(analysis, q, mention) / _ANSWER_DECAY),
        )
        for q in analysis.quantities_in(claim.context_start, claim.context_end)
        if not (q.start < mention.end and mention.start < q.end)
    )
    return AnswerSlot(tuple(words), quantities)


def _is_nearest_name(classes: list[WordClass], index: int, first: int, last: int) -> bool:
    """Whether no other name, but for the rest of the same one, stands between a name and the mention."""
    between = range(index + 1, first) if index < first else range(last + 1, index)
    side = list(between) if index < first else list(reversed(between))
    apart = False
    for i in side:
        if classes[i] is not WordClass.NAME:
            apart = True
        elif apart:
            return False
    return True


def _words_between(analysis: Analysis, quantity: Quantity, mention: AnswerMention) -> int:
    left, right = sorted(((quantity.start, quantity.end), (mention.start, mention.end)))
    return len(analysis.words_in(left[1], right[0]))


def slot_agreement(
    slot: AnswerSlot,
    corpus: Corpus,
    window: int,
    start: int,
    end: int,
    similarity: WordSimilarity,
    language: str | None,
) -> float:
    """How much of an answer's slot surrounds ``[start, end)`` of a window, in [0, 1]."""
    total = slot.weight
    if not total:
        return 0.0
    presence = _presence(corpus, window, start, end)
    named = [(word, value) for word, value in presence.named.items() if value >= _IN_CONTEXT]
    score = 0.0
    for word, weight in slot.words:
        value = presence.stems.get(word.stem, 0.0)
        if value < 1.0 and named:
            for other, other_value in named:
                if other_value > value and other.stem != word.stem:
                    like = similarity.between(word, other, language)
                    if like >= _MEANT:
                        value = max(value, like * other_value)
        score += weight * value
    if slot.quantities:
        quantities = corpus.window_quantities[window]
        for quantity, weight in slot.quantities:
            near = [
                q
                for q in quantities
                if not (q.start < end and start < q.end)
                and compare(quantity, q) in (Agreement.EQUAL, Agreement.APPROXIMATE)
            ]
            if near:
                score += weight
    return score / total


@dataclass(frozen=True)
class _Presence:
    """Stems around a candidate value with their closeness, and the words of the names of its field."""

    stems: dict[str, float]
    named: dict[Word, float]


def _presence(corpus: Corpus, window: int, start: int, end: int) -> _Presence:
    item = corpus.windows[window]
    stems: dict[str, float] = {}
    named: dict[Word, float] = {}

    def put(word: Word, value: float) -> None:
        if not word.is_function and value > stems.get(word.stem, 0.0):
            stems[word.stem] = value

    own = next((f for f in item.fields if f.start <= start and end <= f.end), None)
    if own is not None:
        for field in item.fields:
            is_own = field is own
            for word in corpus.name_of(field):
                put(word, 1.0 if is_own else _OTHER_FIELD)
                if is_own:
                    named[word] = 1.0
            if not is_own and isinstance(field.value, str):
                for word in corpus.window_words[window]:
                    if field.start <= word.start and word.end <= field.end:
                        put(word, 0.9)
        for word in corpus.window_words[window]:
            if own.start <= word.start and word.end <= own.end:
                put(word, 1.0)
        names = {word.stem for field in item.fields for word in corpus.name_of(field)}
        for word in corpus.context_words[window]:
            if word.stem not in names:
                put(word, _IN_CONTEXT)
        return _Presence(stems, named)

    words = corpus.window_words[window]
    first = next((i for i, word in enumerate(words) if word.end > start), len(words))
    last = next((i for i, word in enumerate(words) if word.start >= end), len(words))
    for i, word in enumerate(words):
        if first <= i < last:
            continue
        distance = first - i if i < first else i - last + 1
        put(word, 1.0 / (1 + max(distance - 2, 0) / _DOCUMENT_DECAY))
    for word in corpus.context_words[window]:
        put(word, _IN_CONTEXT)
    for stem in corpus.neighbour_stems(window):
        if stem not in stems:
            stems[stem] = _IN_NEIGHBOUR
    return _Presence(stems, named)
