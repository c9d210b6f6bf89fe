"""Step 3 of EAEV for NUM mentions: quantitative agreement ``Con(s, e*)`` and conflicts of values."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

from rag_guard.detectors.entity_alignment.alignment import Aligner
from rag_guard.detectors.entity_alignment.conflicts import Conflict
from rag_guard.detectors.entity_alignment.mentions import AnswerMention
from rag_guard.detectors.entity_alignment.similarity import WordSimilarity
from rag_guard.detectors.entity_alignment.slots import AnswerSlot, answer_slot, slot_agreement
from rag_guard.detectors.entity_alignment.word_classes import WordClass
from rag_guard.text.quantities import Agreement, Quantity, compare, conflict_offsets
from rag_guard.text.windows import Field, Window
from rag_guard.text.words import Word

AGREEING = (Agreement.EQUAL, Agreement.APPROXIMATE)

_ANCHORED = 0.45  # slot agreement from which a differing value speaks of the same fact
_FIRMLY_ANCHORED = 0.5
_LOOSE = 0.5  # the equal value belongs to something else if its slot fits less than this share of the rival's fit
_LOOSE_IN_COLUMN = 0.75  # the same in another row of a column, where only the row's subject tells values apart
_KINSHIP = 0.2  # what a differing value gains that can hardly be another fact's
_NAMED_MARGIN = 0.3  # how much better a word must name another field than the one that has the value
_NOT_FOUND = 0.25  # Con of a quantity that no document states and none contradicts
_COUNTED, _SMALL = 0.7, 10
_LIKELY = 12  # windows that are looked at where many state a value


@dataclass(frozen=True)
class QuantityAlignment:
    """How a NUM mention fares: ``consistency`` Con(s, e*) in [0, 1], the window that has it, and a conflict."""

    mention_start: int
    consistency: float
    window: int | None = None
    only_window: bool = False
    conflict: Conflict | None = None


@dataclass(frozen=True)
class _Candidate:
    """A quantity of a window and how well its slot fits the mention's, in [0, 1]."""

    fit: float
    window: int
    quantity: Quantity


def _small_count(value: Quantity) -> float:
    """Con of a small bare count that the documents do not spell out: they may well list that many things."""
    countable = value.kind in ("number", "ordinal") and value.unit is None and value.decimals == 0
    return _COUNTED if countable and value.low is not None and 0 <= value.low <= _SMALL else 0.0


def compare_in_window(value: Quantity, source: Quantity, window: Window) -> Agreement:
    """Compare a quantity of the answer with one of a window, whose fields may have the unit in their names."""
    agreement = compare(value, source)
    if agreement is not Agreement.INCOMPARABLE or not value.unit or source.unit or source.kind != "number":
        return agreement
    if any(f.start <= source.start and source.end <= f.end for f in window.fields):
        return compare(replace(value, kind="number", unit=None, unit_start=None, unit_end=None), source)
    return agreement


class QuantityAligner:
    """Aligns the NUM mentions of one answer."""

    def __init__(self, aligner: Aligner, classes: list[WordClass], similarity: WordSimilarity) -> None:
        self._aligner = aligner
        self._analysis = aligner.analysis
        self._corpus = aligner.analysis.corpus
        self._classes = classes
        self._similarity = similarity
        self._language = aligner.language

    def align(self, mention: AnswerMention, value: Quantity) -> QuantityAlignment:
        """Find the same value in the same slot, another value there, or neither."""
        slot = answer_slot(self._analysis, mention, self._classes)
        equal, different = self._candidates(mention, value, slot)
        rival = different[0] if different else None
        if equal:
            return self._of_known_value(mention, value, equal, rival)
        counted = _small_count(value)
        anchored = _FIRMLY_ANCHORED if counted else _ANCHORED
        if rival and (rival.fit >= anchored or self._is_only_value(rival, different, slot)):
            return self._conflict(mention, value, rival, "value")
        return QuantityAlignment(mention.start, counted or _NOT_FOUND)

    def _of_known_value(
        self, mention: AnswerMention, value: Quantity, equal: list[_Candidate], rival: _Candidate | None
    ) -> QuantityAlignment:
        best = equal[0]
        if rival and rival.fit >= _FIRMLY_ANCHORED and best.fit < self._looseness(best, rival) * rival.fit:
            return self._conflict(mention, value, rival, "value of another subject")
        if (other := self._other_field(mention, value, best)) is not None:
            return self._conflict(mention, value, other, "value of another field")
        only = len({candidate.window for candidate in equal}) == 1
        return QuantityAlignment(mention.start, 1.0, best.window, only)

    def _looseness(self, a: _Candidate, b: _Candidate) -> float:
        windows = self._corpus.windows[a.window], self._corpus.windows[b.window]
        columns = [
            next((f.name for f in window.fields if f.start <= q.start and q.end <= f.end), None)
            for window, q in zip(windows, (a.quantity, b.quantity), strict=True)
        ]
        in_column = all(window.kind == "row" for window in windows) and columns[0] is not None
        return _LOOSE_IN_COLUMN if in_column and columns[0] == columns[1] else _LOOSE

    def _candidates(
        self, mention: AnswerMention, value: Quantity, slot: AnswerSlot
    ) -> tuple[list[_Candidate], list[_Candidate]]:
        """Quantities that agree and that differ, best fit first; ties go by text, never by position."""
        equal: list[_Candidate] = []
        different: list[_Candidate] = []
        pool = {ranked.window for ranked in self._aligner.claims[mention.claim].pool}
        for index in sorted(pool | self._likely(self._corpus.windows_agreeing(value), mention)):
            for source in self._corpus.window_quantities[index]:
                agreement = self._compare(value, source, index)
                if agreement in AGREEING:
                    equal.append(_Candidate(self._fit(slot, index, source), index, source))
                elif (
                    agreement is Agreement.DIFFERENT
                    and index in pool
                    and self._fills_slot(source, index)
                    and not self._used(mention, source, index)
                ):
                    fit = self._fit(slot, index, source) + self._kinship(value, source)
                    different.append(_Candidate(min(fit, 1.0), index, source))
        for candidates in (equal, different):
            candidates.sort(key=lambda c: (-round(c.fit, 9), self._corpus.window_text(c.window), c.quantity.start))
        return equal, different

    def _conflict(self, mention: AnswerMention, value: Quantity, rival: _Candidate, kind: str) -> QuantityAlignment:
        source = rival.quantity
        start, end = conflict_offsets(value, source)
        conflict = Conflict(kind, rival.window, source.start, source.end, start, end, source.text)
        return QuantityAlignment(mention.start, 0.0, rival.window, True, conflict)

    def _compare(self, value: Quantity, source: Quantity, window: int) -> Agreement:
        return compare_in_window(value, source, self._corpus.windows[window])

    def _fit(self, slot: AnswerSlot, window: int, source: Quantity) -> float:
        return slot_agreement(slot, self._corpus, window, source.start, source.end, self._similarity, self._language)

    def _other_field(self, mention: AnswerMention, value: Quantity, found: _Candidate) -> _Candidate | None:
        """The quantity of another field of the same row or record whose name the words beside the mention say."""
        window, source = found.window, found.quantity
        fields = self._corpus.windows[window].fields
        own = next((f for f in fields if f.start <= source.start and source.end <= f.end), None)
        if own is None:
            return None
        beside = [
            self._analysis.words[i]
            for i in (mention.words[0] - 1, mention.words[-1] + 1)
            if 0 <= i < len(self._analysis.words)
            and self._classes[i] in (WordClass.NOUN, WordClass.VERB, WordClass.MODIFIER)
        ]
        best: tuple[float, _Candidate | None] = (self._named(beside, own) + _NAMED_MARGIN, None)
        for field in fields:
            if field is not own and (name := self._named(beside, field)) > best[0]:
                for rival in self._corpus.window_quantities[window]:
                    if (
                        field.start <= rival.start
                        and rival.end <= field.end
                        and compare(value, rival) is Agreement.DIFFERENT
                        and not self._used(mention, rival, window)
                    ):
                        best = (name, _Candidate(1.0, window, rival))
        return best[1]

    def _named(self, words: list[Word], field: Field) -> float:
        """How well words say a field's name, in [0, 1]."""
        return max(
            (self._similarity.between(a, b, self._language) for a in words for b in self._corpus.name_of(field)),
            default=0.0,
        )

    def _fills_slot(self, source: Quantity, window: int) -> bool:
        """Whether a quantity of a row or record is a field's value and not a number inside one, as in an address."""
        text = self._corpus.documents[self._corpus.windows[window].document].text
        for field in self._corpus.windows[window].fields:
            if field.start <= source.start and source.end <= field.end:
                rest = text[field.start : source.start] + text[source.end : field.end]
                return not any(char.isalpha() for char in rest)
        return True

    def _likely(self, windows: list[int], mention: AnswerMention) -> set[int]:
        """The windows that share most with a mention's claim, where many state its value."""
        if len(windows) <= _LIKELY:
            return set(windows)
        claim = {word.stem for word in self._analysis.claim_words[mention.claim]}
        return set(heapq.nsmallest(_LIKELY, windows, key=lambda w: (-len(claim & self._corpus.stems[w]), w)))

    def _kinship(self, value: Quantity, source: Quantity) -> float:
        """What a differing value gains for being hard to take for another fact.

        It is the documents' only value of its dimension, or a date that differs in some of its parts only.
        """
        a, b = value.date, source.date
        shared = a is not None and b is not None and any(
            x is not None and x == y for x, y in ((a.year, b.year), (a.month, b.month), (a.day, b.day))
        )  # fmt: skip
        only = value.unit is not None and self._corpus.is_only_value(source)
        return _KINSHIP * (shared or only)

    def _is_only_value(self, rival: _Candidate, different: list[_Candidate], slot: AnswerSlot) -> bool:
        """Whether a slot without any word of the documents can only mean the one value there is of that dimension."""
        if rival.quantity.unit is None or any(self._corpus.has_stem(word.stem) for word, _ in slot.words):
            return False
        return all(compare(other.quantity, rival.quantity) is Agreement.EQUAL for other in different)

    def _used(self, mention: AnswerMention, source: Quantity, window: int) -> bool:
        """Whether another quantity of the same claim already states this value of the window."""
        return any(
            other is not mention.quantity and self._compare(other, source, window) is Agreement.EQUAL
            for other in self._analysis.claim_quantities[mention.claim]
        )
