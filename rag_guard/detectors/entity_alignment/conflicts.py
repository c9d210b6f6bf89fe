"""Step 3 of EAEV: the conflict indicator. Does a window say something else in the slot that the mention fills?

Kinds: ``value`` (another quantity), ``value of another subject`` (the same value, but elsewhere), ``entity`` (another
name or noun in the same place), ``antonym`` and members of one exclusive class, ``negation``, ``record`` (a field says
the opposite). ``Con(s, e*)`` in [0, 1] is 1 without a conflict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rag_guard.detectors.entity_alignment.alignment import Aligner, ClaimEvidence
from rag_guard.detectors.entity_alignment.mentions import AnswerMention
from rag_guard.detectors.entity_alignment.similarity import WordSimilarity, opposes
from rag_guard.detectors.entity_alignment.slots import AnswerSlot, answer_slot, slot_agreement
from rag_guard.detectors.entity_alignment.word_classes import WordClass
from rag_guard.text.analysis import Analysis
from rag_guard.text.quantities import Agreement, Quantity, compare, conflict_offsets
from rag_guard.text.words import Word, is_unspaced

_ANCHORED = 0.35  # slot agreement from which a differing value speaks of the same fact
_FIRMLY_ANCHORED = 0.6
_SWAP_MARGIN = 0.25  # how much better the slot of a differing value must fit than that of the equal one
_REST_COVERED = 0.55  # share of a claim, without the mention, that a window must have to name a substitute
_PARAPHRASE = 0.45  # similarity from which a substitute says the same in other words


@dataclass(frozen=True)
class Conflict:
    """Why a mention conflicts: the window, the range in it that says otherwise, and the range of the answer at fault."""

    kind: str
    window: int
    start: int
    end: int
    answer_start: int
    answer_end: int
    expected: str | None = None


@dataclass(frozen=True)
class QuantityAlignment:
    """How a NUM mention fares: ``consistency`` Con(s, e*), the window that has it, and a conflict."""

    consistency: float
    window: int | None
    start: int = 0
    end: int = 0
    only_window: bool = False
    conflict: Conflict | None = None


class ConflictFinder:
    """Finds conflicts of the mentions of one analysis."""

    def __init__(self, aligner: Aligner, classes: list[WordClass], similarity: WordSimilarity) -> None:
        self._aligner = aligner
        self._analysis: Analysis = aligner.analysis
        self._corpus = aligner.analysis.corpus
        self._classes = classes
        self._similarity = similarity
        self._language = aligner.language

    # --- quantities ---------------------------------------------------------------------------------------------

    def quantity(self, mention: AnswerMention) -> QuantityAlignment:
        """Align a NUM mention: the same value in the same slot, another value there, or neither."""
        assert mention.quantity is not None
        value = mention.quantity
        slot = answer_slot(self._analysis, mention, self._classes)
        evidence = self._aligner.claims[mention.claim]
        equal: list[tuple[float, int, Quantity]] = []
        different: list[tuple[float, int, Quantity]] = []
        pool = {ranked.window for ranked in evidence.pool}
        for index in sorted(pool | set(self._corpus.windows_agreeing(value))):
            for source in self._corpus.window_quantities[index]:
                agreement = self._compare(value, source, index)
                if agreement is Agreement.INCOMPARABLE:
                    continue
                if agreement is Agreement.DIFFERENT and index not in pool:
                    continue
                fit = self._fit(slot, index, source.start, source.end)
                if agreement is Agreement.DIFFERENT:
                    if not self._used(mention, source, index):
                        different.append((fit, index, source))
                else:
                    equal.append((fit, index, source))
        order = lambda item: (-round(item[0], 9), self._corpus.window_text(item[1]), item[2].start)  # noqa: E731
        equal.sort(key=order)
        different.sort(key=order)
        rival = different[0] if different else None
        if equal:
            fit, index, source = equal[0]
            if rival and rival[0] >= _FIRMLY_ANCHORED and rival[0] - fit > _SWAP_MARGIN:
                return QuantityAlignment(
                    0.0, index, source.start, source.end, True, self._value_conflict(value, rival, "value of another subject")
                )
            return QuantityAlignment(1.0, index, source.start, source.end, len({i for _, i, _ in equal}) == 1)
        if rival and (rival[0] >= _ANCHORED or not slot.weight):
            return QuantityAlignment(
                0.0, rival[1], rival[2].start, rival[2].end, True, self._value_conflict(value, rival, "value")
            )
        return QuantityAlignment(0.0, None)

    def _compare(self, value: Quantity, source: Quantity, window: int) -> Agreement:
        agreement = compare(value, source)
        if agreement is Agreement.INCOMPARABLE and value.unit and not source.unit and source.kind == "number":
            # A bare number in a named field has its unit in the name, as in height_m.
            if any(f.start <= source.start and source.end <= f.end for f in self._corpus.windows[window].fields):
                return compare(replace(value, kind="number", unit=None, unit_start=None, unit_end=None), source)
        return agreement

    def _value_conflict(self, value: Quantity, rival: tuple[float, int, Quantity], kind: str) -> Conflict:
        _, index, source = rival
        start, end = conflict_offsets(value, source)
        return Conflict(kind, index, source.start, source.end, start, end, source.text)

    def _used(self, mention: AnswerMention, source: Quantity, window: int) -> bool:
        """Whether another quantity of the same claim already states this value of the window."""
        return any(
            other is not mention.quantity and self._compare(other, source, window) is Agreement.EQUAL
            for other in self._analysis.claim_quantities[mention.claim]
        )

    def _fit(self, slot: AnswerSlot, window: int, start: int, end: int) -> float:
        return slot_agreement(slot, self._corpus, window, start, end, self._similarity, self._language)

    # --- names, nouns, verbs ------------------------------------------------------------------------------------

    def substitution(self, run: tuple[int, ...], mention: AnswerMention) -> Conflict | None:
        """Another name or word in the place of a run of answer words, in a window that has the rest of the claim."""
        evidence = self._aligner.claims[mention.claim]
        for ranked in evidence.pool[:3]:
            covered, others = self._rest(run, evidence, ranked.window)
            if others == 0 or covered < _REST_COVERED:
                continue
            filler = self._filler(run, evidence, ranked.window, mention)
            if filler:
                first, last = filler[0], filler[-1]
                text = self._corpus.documents[self._corpus.windows[ranked.window].document].text
                answer = self._analysis.words
                kind = next(
                    (
                        opposite
                        for i in run
                        for word in filler
                        if (opposite := opposes(answer[i], word, self._language))
                    ),
                    "entity",
                )
                return Conflict(
                    kind,
                    ranked.window,
                    first.start,
                    last.end,
                    answer[run[0]].start,
                    answer[run[-1]].end,
                    text[first.start : last.end],
                )
        return None

    def _rest(self, run: tuple[int, ...], evidence: ClaimEvidence, window: int) -> tuple[float, int]:
        """Coverage of the claim's other content by a window's own text and context, and how many words that is."""
        total = covered = 0.0
        count = 0
        near = self._corpus.neighbour_stems(window)
        for i in evidence.matches:
            if i in run:
                continue
            word = self._analysis.words[i]
            weight = self._corpus.idf(word.stem)
            total += weight
            count += 1
            if word.stem in self._corpus.stems[window] or word.stem in self._corpus.context_stems[window]:
                covered += weight
            elif is_unspaced(word.text[0]) and word.norm in self._corpus.joined_text(window):
                covered += weight
            elif word.stem in near or evidence.matches[i].how in ("variant", "compound", "acronym", "question"):
                covered += weight * 0.7
            else:
                covered += weight * (evidence.matches[i].score if evidence.matches[i].how == "semantic" else 0.0)
        for quantity in self._analysis.claim_quantities[evidence.claim]:
            total += 0.7
            count += 1
            if any(
                self._compare(quantity, source, window) in (Agreement.EQUAL, Agreement.APPROXIMATE)
                for source in self._corpus.window_quantities[window]
            ):
                covered += 0.7
        return (covered / total if total else 0.0), count

    def _filler(
        self, run: tuple[int, ...], evidence: ClaimEvidence, window: int, mention: AnswerMention
    ) -> list[Word]:
        """The window's content words in the place of ``run``: between, after or before the run's matched neighbours."""
        words = self._corpus.window_words[window]
        answer = self._analysis.words
        claimed = {answer[i].stem for i in evidence.matches}
        left = self._neighbour(run[0] - 1, -1, evidence)
        right = self._neighbour(run[-1] + 1, +1, evidence)
        after = [p for p, word in enumerate(words) if left is not None and word.stem == answer[left].stem]
        before = [p for p, word in enumerate(words) if right is not None and word.stem == answer[right].stem]
        spans: list[tuple[int, int]] = []
        if after and before:
            pairs = [(b - a, a + 1, b) for a in after for b in before if 1 < b - a <= len(run) + 6]
            spans = [min(pairs)[1:]] if pairs else []
        if not spans and after and (right is None or not before):
            spans = [(p + 1, len(words)) for p in after]
        if not spans and before and (left is None or not after):
            spans = [(0, p) for p in before]
        is_name = self._classes[run[0]] is WordClass.NAME
        for low, high in spans:
            forward = not (before and not after)
            positions = range(low, high) if forward else range(high - 1, low - 1, -1)
            filler: list[Word] = []
            for p in positions:
                word = words[p]
                if word.is_function or word.text[0].isdigit():
                    if filler:
                        break
                    continue
                if word.stem in claimed or len(filler) >= len(run) + 1:
                    break
                filler.append(word)
            if not forward:
                filler.reverse()
            if filler and self._comparable(run, filler, is_name):
                return filler
        return []

    def _neighbour(self, index: int, step: int, evidence: ClaimEvidence) -> int | None:
        """The next content word of the claim in one direction."""
        claim = self._analysis.claims[evidence.claim]
        while 0 <= index < len(self._analysis.words):
            word = self._analysis.words[index]
            if not claim.start <= word.start < claim.end:
                return None
            if index in evidence.matches:
                return index
            index += step
        return None

    def _comparable(self, run: tuple[int, ...], filler: list[Word], is_name: bool) -> bool:
        """Whether a filler could be another value of the same kind, and is not the same in other words."""
        own = [self._analysis.words[i] for i in run]
        if is_name and not any(word.text[0].isupper() or is_unspaced(word.text[0]) for word in filler):
            return False
        if any(opposes(a, b, self._language) for a in own for b in filler):
            return True
        return not any(
            self._similarity.between(a, b, self._language) >= _PARAPHRASE for a in own for b in filler
        )

    def misplaced_name(self, mention: AnswerMention) -> Conflict | None:
        """A name the documents have, but not where they speak of this claim, and another name in its place there."""
        evidence = self._aligner.claims[mention.claim]
        best = evidence.best
        if best is None or not all(evidence.matches[i].score > 0 for i in mention.words):
            return None
        run = tuple(mention.words)
        candidates = [ranked.window for ranked in evidence.pool]
        own = {self._analysis.words[i].stem for i in run}
        having = [w for w in candidates if own & (self._corpus.stems[w] | self._corpus.context_stems[w])]
        best_having = max((self._rest(run, evidence, w)[0] for w in having), default=0.0)
        for window in candidates[:3]:
            if window in having or own & self._corpus.neighbour_stems(window) & self._same_passage(window):
                continue
            covered, others = self._rest(run, evidence, window)
            if others < 2 or covered < 0.9 or covered - best_having < 0.15:
                continue
            filler = self._filler(run, evidence, window, mention)
            if filler:
                answer = self._analysis.words
                text = self._corpus.documents[self._corpus.windows[window].document].text
                first, last = filler[0], filler[-1]
                return Conflict(
                    "entity", window, first.start, last.end, answer[run[0]].start, answer[run[-1]].end,
                    text[first.start : last.end],
                )  # fmt: skip
        return None

    def _same_passage(self, window: int) -> frozenset[str]:
        """Stems a window may take for granted: those of neighbours it refers back to with a pronoun."""
        words = self._corpus.window_words[window][:3]
        from rag_guard.text.lexicons.pronouns import PRONOUNS

        pronouns = PRONOUNS.get(self._corpus.language or "", frozenset())
        return self._corpus.neighbour_stems(window) if any(w.norm in pronouns for w in words) else frozenset()
