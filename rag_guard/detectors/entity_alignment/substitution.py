"""Step 3 of EAEV for names, nouns and verbs: what the documents have in the place of words that they do not have."""

from __future__ import annotations

from rag_guard.detectors.entity_alignment.alignment import Aligner, ClaimEvidence
from rag_guard.detectors.entity_alignment.conflicts import Conflict
from rag_guard.detectors.entity_alignment.mentions import AnswerMention
from rag_guard.detectors.entity_alignment.quantity_alignment import AGREEING, compare_in_window
from rag_guard.detectors.entity_alignment.similarity import SYNONYM, WordSimilarity, opposes
from rag_guard.detectors.entity_alignment.word_classes import WordClass
from rag_guard.text.lexicons.pronouns import PRONOUNS
from rag_guard.text.quantities import Quantity
from rag_guard.text.words import Word, is_unspaced

_REST_COVERED = 0.6  # share of a claim, without the mention, that a window must have to name a substitute
_PARALLEL = 0.7  # share of a phrase's other words that a claim must say for a word in its place to be its substitute
_VERBATIM = 0.99
_MISPLACED_COVERED = 0.9
_MISPLACED_MARGIN = 0.15


class SubstitutionFinder:
    """Finds what stands in a window in the place of words of one answer."""

    def __init__(self, aligner: Aligner, classes: list[WordClass], similarity: WordSimilarity) -> None:
        self._aligner = aligner
        self._analysis = aligner.analysis
        self._corpus = aligner.analysis.corpus
        self._classes = classes
        self._similarity = similarity
        self._language = aligner.language

    def substitution(self, run: tuple[int, ...], mention: AnswerMention) -> Conflict | None:
        """Another name or word in the place of a run of answer words, in a window that has the rest of the claim."""
        evidence = self._aligner.claims[mention.claim]
        for ranked in evidence.pool[:3]:
            covered, others = self._rest(run, evidence, ranked.window)
            if others == 0 or covered < _REST_COVERED:
                continue
            filler = self._filler(run, evidence, ranked.window)
            if filler and self._is_rival(run, filler, evidence, ranked.window):
                return self._substitute(run, filler, ranked.window)
        if set(evidence.matches) <= set(run) and not self._analysis.claim_quantities[evidence.claim]:
            return self._other_answer(run, evidence)
        return None

    def misplaced_name(self, mention: AnswerMention) -> Conflict | None:
        """A name the documents have, but not where they speak of this claim, and another name in its place there."""
        evidence = self._aligner.claims[mention.claim]
        if not all(evidence.matches[i].how in ("exact", "elsewhere") for i in mention.words):
            return None
        candidates = [ranked.window for ranked in evidence.pool]
        for window in candidates[:3]:
            here = self._corpus.stems[window] | self._corpus.context_stems[window] | self._taken_for_granted(window)
            run = tuple(i for i in mention.words if self._analysis.words[i].stem not in here)
            if not run or run != tuple(range(run[0], run[-1] + 1)):
                continue
            missing = {self._analysis.words[i].stem for i in run}
            having = [w for w in candidates if missing & (self._corpus.stems[w] | self._corpus.context_stems[w])]
            covered, others = self._rest(run, evidence, window, strict=True)
            elsewhere = max((self._rest(run, evidence, w, strict=True)[0] for w in having), default=0.0)
            if others < 2 or covered < _MISPLACED_COVERED or covered - elsewhere < _MISPLACED_MARGIN:
                continue
            filler = self._filler(run, evidence, window)
            if filler:
                return self._substitute(run, filler, window)
        return None

    def _other_answer(self, run: tuple[int, ...], evidence: ClaimEvidence) -> Conflict | None:
        """For an answer of one name: the one other name in the window that says the rest of the question."""
        asked = {word.stem for word in self._analysis.question_words if not word.is_function}
        if self._classes[run[0]] is not WordClass.NAME or not asked:
            return None
        for ranked in evidence.pool[:1]:
            words = self._corpus.content_words(ranked.window)
            if len(asked & {word.stem for word in words}) < _REST_COVERED * len(asked):
                continue
            names = [w for w in words if w.stem not in asked and w.text[0].isupper() and w.start > words[0].start]
            last = names[-1:] and names[-1]
            if last and names[-1].end - names[0].start <= sum(len(w.text) + 1 for w in names):
                return self._substitute(run, names, ranked.window)
        return None

    def _rest(
        self, run: tuple[int, ...], evidence: ClaimEvidence, window: int, *, strict: bool = False
    ) -> tuple[float, int]:
        """Coverage of the claim's other content by a window's own text and context, and how many words that is.

        ``strict`` takes nothing from neighbouring windows but what a pronoun refers to.
        """
        total = covered = 0.0
        count = 0
        near = self._taken_for_granted(window) if strict else self._corpus.neighbour_stems(window)
        for i in evidence.matches:
            if i in run:
                continue
            word = self._analysis.words[i]
            weight = self._corpus.idf(word.stem)
            total += weight
            count += 1
            here = word.stem in self._corpus.stems[window] or word.stem in self._corpus.context_stems[window]
            if here or (is_unspaced(word.text[0]) and word.norm in self._corpus.joined_text(window)):
                covered += weight
            elif word.stem in near or evidence.matches[i].how in ("variant", "compound", "acronym", "question"):
                covered += weight * 0.7
            else:
                covered += weight * (evidence.matches[i].score if evidence.matches[i].how == "semantic" else 0.0)
        for quantity in self._analysis.claim_quantities[evidence.claim]:
            total += 0.7
            count += 1
            if any(
                compare_in_window(quantity, source, self._corpus.windows[window]) in AGREEING
                for source in self._corpus.window_quantities[window]
            ):
                covered += 0.7
        return (covered / total if total else 0.0), count

    def _is_rival(self, run: tuple[int, ...], filler: list[Word], evidence: ClaimEvidence, window: int) -> bool:
        """Whether a filler excludes the run, and is not just another wording of it.

        Opposites and other names do in a phrase that says what the claim says. Other words do only where claim and
        window agree word for word but for them: in a paraphrase, a word in the same place need not be in the same role.
        """
        claimed = {self._analysis.words[i].stem for i in evidence.matches}
        if self._corpus.windows[window].fields:
            return self._fills_field(filler, claimed, window)
        answer = [self._analysis.words[i] for i in run]
        exclusive = any(opposes(a, b, self._language) for a in answer for b in filler)
        names = self._classes[run[0]] is WordClass.NAME
        quantities = self._corpus.window_quantities[window]
        scope = self._phrase(filler, window) if exclusive or names else self._corpus.window_words[window]
        others = [
            w
            for w in scope
            if w not in filler
            and not w.is_function
            and not any(q.start < w.end and w.start < q.end for q in quantities)
        ]
        agreed = sum(w.stem in claimed for w in others)
        if exclusive or names:
            return agreed >= _PARALLEL * len(others) if others else len(scope) > len(filler)
        if len(run) > 2 or len(filler) > 2 or agreed < len(others) or self._names_a_count(run):
            return False
        if any(self._similarity.between(a, b, self._language) >= SYNONYM for a in answer for b in filler):
            return False
        return self._rest(run, evidence, window, strict=True)[0] >= _VERBATIM

    def _names_a_count(self, run: tuple[int, ...]) -> bool:
        """Whether a run directly follows a quantity: what is counted goes by many names."""
        return run[0] - 1 in self._analysis.quantity_words

    def _fills_field(self, filler: list[Word], claimed: set[str], window: int) -> bool:
        """Whether a filler is all of a field's value, and the claim says the field's name."""
        for field in self._corpus.windows[window].fields:
            if field.start <= filler[0].start and filler[-1].end <= field.end:
                value = [w for w in self._corpus.content_words(window) if field.start <= w.start and w.end <= field.end]
                return value == filler and any(word.stem in claimed for word in self._corpus.name_of(field))
        return False

    def _phrase(self, filler: list[Word], window: int) -> list[Word]:
        """The words of a window around ``filler`` up to the next punctuation on either side."""
        words = self._corpus.window_words[window]
        low = next(i for i, word in enumerate(words) if word.start == filler[0].start)
        high = low + len(filler)
        while low > 0 and not self._separated(words[low - 1], words[low], window):
            low -= 1
        while high < len(words) and not self._separated(words[high - 1], words[high], window):
            high += 1
        return words[low:high]

    def _filler(self, run: tuple[int, ...], evidence: ClaimEvidence, window: int) -> list[Word]:
        """The window's content words in the place of ``run``: between, after or before the run's matched neighbours."""
        words = self._slot_words(window)
        answer = self._analysis.words
        claimed = {answer[i].stem for i in evidence.matches}
        after = self._positions(self._neighbour(run[0] - 1, -1, evidence), words, window)
        before = self._positions(self._neighbour(run[-1] + 1, +1, evidence), words, window)
        places: list[tuple[int, int, bool]] = []
        if after and before:
            pairs = [(b - a, a + 1, b) for a in after for b in before if 1 < b - a <= len(run) + 6]
            places = [(*min(pairs)[1:], True)] if pairs else []
        if not places:
            places = [(p + 1, len(words), True) for p in after] + [(0, p, False) for p in before]
        is_name = self._classes[run[0]] is WordClass.NAME
        for low, high, forward in places:
            filler = self._collect(words, low, high, forward, claimed, len(run) + 1, window)
            if filler and self._comparable(run, filler, is_name):
                return filler
        return []

    def _collect(
        self, words: list[Word], low: int, high: int, forward: bool, claimed: set[str], limit: int, window: int
    ) -> list[Word]:
        """Content words from one neighbour on, up to punctuation, a number or a word the claim has already said."""
        filler: list[Word] = []
        positions = range(low, high) if forward else range(high - 1, low - 1, -1)
        for p in positions:
            word = words[p]
            beside = words[p - 1] if forward and p else words[p + 1] if not forward and p + 1 < len(words) else None
            if beside is not None and self._separated(beside, word, window):
                break
            if word.is_function or word.text[0].isdigit():
                if filler:
                    break
                continue
            if word.stem in claimed or len(filler) >= limit:
                break
            filler.append(word)
        return filler if forward else filler[::-1]

    def _slot_words(self, window: int) -> list[Word]:
        """Words of a window that can be values: all of a sentence, only the fields' values of a row or record."""
        fields = self._corpus.windows[window].fields
        words = self._corpus.window_words[window]
        if not fields:
            return words
        return [w for w in words if any(f.start <= w.start and w.end <= f.end for f in fields)]

    def _separated(self, a: Word, b: Word, window: int) -> bool:
        """Whether punctuation lies between two neighbouring words of a window."""
        text = self._corpus.documents[self._corpus.windows[window].document].text
        left, right = sorted((a, b), key=lambda word: word.start)
        return any(not (char.isspace() or char in "-–‑'’*_\"“”„«»") for char in text[left.end : right.start])

    def _positions(self, neighbour: int | Quantity | None, words: list[Word], window: int) -> list[int]:
        """Where a window has the matched neighbour of a run."""
        if neighbour is None:
            return []
        if isinstance(neighbour, int):
            return [p for p, word in enumerate(words) if word.stem == self._analysis.words[neighbour].stem]
        agreeing = [
            q
            for q in self._corpus.window_quantities[window]
            if compare_in_window(neighbour, q, self._corpus.windows[window]) in AGREEING
        ]
        return [p for p, word in enumerate(words) if any(q.start <= word.start and word.end <= q.end for q in agreeing)]

    def _neighbour(self, index: int, step: int, evidence: ClaimEvidence) -> int | Quantity | None:
        """The next content word or quantity of the claim in one direction."""
        claim = self._analysis.claims[evidence.claim]
        quantities = self._analysis.claim_quantities[evidence.claim]
        while 0 <= index < len(self._analysis.words):
            word = self._analysis.words[index]
            if not claim.start <= word.start < claim.end:
                return None
            if index in evidence.matches:
                return index
            for quantity in quantities:
                if quantity.start <= word.start and word.end <= quantity.end:
                    return quantity
            index += step
        return None

    def _comparable(self, run: tuple[int, ...], filler: list[Word], is_name: bool) -> bool:
        """Whether a filler could be another value of the same kind: for a name, another name that is not its own."""
        if not is_name:
            return True
        own = [self._analysis.words[i].norm for i in run]
        # Johnson may stand for Mary Ann, where the documents have Mary Ann Johnson.
        return any(word.text[0].isupper() or is_unspaced(word.text[0]) for word in filler) and not (
            self._corpus.is_one_name([*own, *(word.norm for word in filler)])
        )

    def _taken_for_granted(self, window: int) -> frozenset[str]:
        """Stems of the neighbours of a window that refers back to them with a pronoun."""
        opening = self._corpus.window_words[window][:3]
        pronouns = PRONOUNS.get(self._corpus.language or "", frozenset())
        return self._corpus.neighbour_stems(window) if any(w.norm in pronouns for w in opening) else frozenset()

    def _substitute(self, run: tuple[int, ...], filler: list[Word], window: int) -> Conflict:
        answer = self._analysis.words
        text = self._corpus.documents[self._corpus.windows[window].document].text
        kinds = (opposes(answer[i], word, self._language) for i in run for word in filler)
        return Conflict(
            kind=next((kind for kind in kinds if kind), "entity"),
            window=window,
            start=filler[0].start,
            end=filler[-1].end,
            answer_start=answer[run[0]].start,
            answer_end=answer[run[-1]].end,
            expected=text[filler[0].start : filler[-1].end],
        )
