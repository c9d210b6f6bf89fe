"""Steps 3 to 5 of EAEV for one aligned answer: conflicts, stability, scores of mentions, risks of words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rag_guard.detectors.base import Detection, TokenRisks
from rag_guard.detectors.entity_alignment.alignment import (
    Aligner,
    ClaimEvidence,
    WordMatch,
    mention_text,
    paraphrase_credit,
)
from rag_guard.detectors.entity_alignment.conflicts import Conflict
from rag_guard.detectors.entity_alignment.entities import ScoredMention, aggregate
from rag_guard.detectors.entity_alignment.findings import CONFLICT_RISK, collect_findings
from rag_guard.detectors.entity_alignment.mentions import AnswerMention
from rag_guard.detectors.entity_alignment.polarity import PolarityChecker
from rag_guard.detectors.entity_alignment.quantity_alignment import QuantityAligner, QuantityAlignment
from rag_guard.detectors.entity_alignment.scoring import positive_alignment, risk
from rag_guard.detectors.entity_alignment.similarity import WordSimilarity
from rag_guard.detectors.entity_alignment.stability import LEAVE_ONE_OUT, PERTURBATIONS, PerturbedWindows
from rag_guard.detectors.entity_alignment.substitution import SubstitutionFinder
from rag_guard.detectors.entity_alignment.word_classes import WordClass
from rag_guard.schema import Evidence

_NOVELTY = {WordClass.VERB: 0.5, WordClass.MODIFIER: 0.5}
"""How much an unmatched word counts as new information; verbs and modifiers are what paraphrase changes first."""
_DOUBTFUL = 0.2
_BESIDE_QUANTITY = 0.6
"""Identity of an unmatched word beside a supported quantity or field: "300 staff" for "300 people"."""


class AnswerJudge:
    """Scores the mentions of one aligned answer."""

    def __init__(
        self, aligner: Aligner, classes: list[WordClass], similarity: WordSimilarity, perturbed: PerturbedWindows
    ) -> None:
        aligner.match_by_meaning(similarity)
        self._aligner = aligner
        self._analysis = aligner.analysis
        self._classes = classes
        self._quantity_aligner = QuantityAligner(aligner, classes, similarity)
        self._substitutes = SubstitutionFinder(aligner, classes, similarity)
        self._polarity = PolarityChecker(aligner)
        self._perturbed = perturbed
        self._agreement = {claim: aligner.local_agreement(claim) for claim in aligner.claims}
        self._by_word: dict[int, Conflict] = {}
        self._quantities: dict[int, QuantityAlignment] = {}
        self._quantity_words: dict[int, bool] = {}

    def detection(self, warnings: tuple[str, ...]) -> Detection:
        """The detection of this answer."""
        for claim in self._aligner.claims:
            for conflict in self._polarity.conflicts(claim):
                self._blame(conflict)
        for mention in self._aligner.mentions:
            answered = self._polarity.answers(mention.claim)
            if isinstance(answered, Conflict):
                self._blame(answered)
            elif answered is not None:
                self._aligner.claims[mention.claim].matches[mention.words[0]] = WordMatch(1.0, answered, "verdict")
        self._quantities = {
            mention.words[0]: self._quantity_aligner.align(mention, mention.quantity)
            for mention in self._aligner.mentions
            if mention.quantity is not None
        }
        self._repeat_conflicts()
        self._substitutions()
        self._quantity_words = {
            i: self._quantities[mention.words[0]].consistency == 1.0
            for mention in self._aligner.mentions
            if mention.type == "NUM"
            for i in mention.words
        }
        self._claim_of = {i: m.claim for m in self._aligner.mentions for i in m.words}
        self._unmatched = {
            claim: sum(_NOVELTY.get(self._classes[i], 1.0) for i, m in evidence.matches.items() if m.score < 0.5)
            for claim, evidence in self._aligner.claims.items()
        }
        self._attested = {i for claim in self._aligner.claims for i in self._polarity.attested_words(claim)}
        self._room = {claim: self._aligner.room(claim) for claim in self._aligner.claims}
        scored = [self._score(mention) for mention in self._aligner.mentions]
        risks = self._word_risks(scored)
        findings = collect_findings(self._analysis, self._classes, scored, risks, self._by_word)
        offsets = np.array([(word.start, word.end) for word in self._analysis.words], dtype=np.int64)
        return Detection(
            tokens=TokenRisks(offsets.reshape(-1, 2), risks),
            findings=tuple(findings),
            entities=aggregate(self._analysis, scored),
            warnings=warnings,
        )

    def _blame(self, conflict: Conflict) -> None:
        for i in self._analysis.words_in(conflict.answer_start, conflict.answer_end):
            self._by_word.setdefault(i, conflict)

    def _substitutions(self) -> None:
        """Look for a substitute of every run of neighbouring words that no window has, and of misplaced names."""
        for run, mention in self._unmatched_runs():
            conflict = self._substitutes.substitution(run, mention)
            if conflict is not None:
                self._blame(conflict)
        misplaced: dict[int, Conflict] = {}
        for mention in self._aligner.mentions:
            if mention.type == "ENT" and not any(i in self._by_word for i in mention.words):
                conflict = self._substitutes.misplaced_name(mention)
                if conflict is not None:
                    # Two names that belong to different facts accuse each other; the later one is what is said of the
                    # earlier one.
                    misplaced[mention.claim] = conflict
        for conflict in misplaced.values():
            self._blame(conflict)

    def _repeat_conflicts(self) -> None:
        """A value that conflicts once is the same entity where it is said again without a slot of its own."""
        conflicting: dict[str, QuantityAlignment] = {}
        for mention in self._aligner.mentions:
            if mention.type != "NUM":
                continue
            aligned = self._quantities[mention.words[0]]
            text = " ".join(mention_text(self._analysis, mention).split())
            if aligned.conflict is not None:
                conflicting.setdefault(text, aligned)
            elif aligned.consistency < 1.0 and text in conflicting:
                earlier = conflicting[text]
                assert earlier.conflict is not None
                moved = replace(
                    earlier.conflict,
                    answer_start=earlier.conflict.answer_start - earlier.mention_start + mention.start,
                    answer_end=earlier.conflict.answer_end - earlier.mention_start + mention.start,
                )
                self._quantities[mention.words[0]] = replace(earlier, conflict=moved, mention_start=mention.start)

    def _supported_neighbour(self, index: int) -> bool:
        """Whether a word stands beside a quantity that the documents have: it names what they count or measure."""
        for step in (-1, 1):
            other = index + step
            if 0 <= other < len(self._classes) and self._classes[other] is WordClass.FUNCTION:
                other += step
            if self._quantity_words.get(other):
                return True
        return False

    def _unmatched_runs(self) -> list[tuple[tuple[int, ...], AnswerMention]]:
        runs: list[tuple[tuple[int, ...], AnswerMention]] = []
        for mention in self._aligner.mentions:
            if mention.type == "NUM":
                continue
            matches = self._aligner.claims[mention.claim].matches
            # A word that is only similar to the documents' may still be another value: silver for gold.
            open_words = [
                i
                for i in mention.words
                if (matches[i].score < 0.5 or matches[i].how == "semantic") and i not in self._by_word
            ]
            for i in open_words:
                if runs and runs[-1][0][-1] == i - 1 and runs[-1][1].claim == mention.claim:
                    runs[-1] = ((*runs[-1][0], i), runs[-1][1])
                else:
                    runs.append(((i,), mention))
        return runs

    # --- scores -------------------------------------------------------------------------------------------------

    def _score(self, mention: AnswerMention) -> ScoredMention:
        evidence = self._aligner.claims[mention.claim]
        semantic = self._agreement[mention.claim]
        text = mention_text(self._analysis, mention)
        conflict = next((self._by_word[i] for i in mention.words if i in self._by_word), None)
        window = evidence.best.window if evidence.best else None
        if mention.type == "NUM":
            aligned = self._quantities[mention.words[0]]
            consistency = aligned.consistency
            conflict = conflict or aligned.conflict
            identity = 1.0 if consistency == 1.0 else 0.0
            if aligned.window is not None:
                window = aligned.window
            left_out = 0.0 if aligned.only_window else identity
        else:
            per_word = {i: self._identity(i, evidence.matches[i].score) for i in mention.words}
            identity = sum(per_word.values()) / len(per_word)
            left_out = sum(self._identity(i, evidence.second[i].score) for i in mention.words) / len(per_word)
            consistency = 0.0 if conflict else 1.0
            matched = [evidence.matches[i].window for i in mention.words if evidence.matches[i].window is not None]
            window = matched[0] if matched else window
        if conflict is not None:
            window = conflict.window
        s_pos = positive_alignment(mention.type, identity, semantic, consistency)
        s_neg = 1.0 if conflict else 0.0
        crs_min, perturbation = self._stability(mention, text, window, identity, left_out, semantic, consistency, s_pos)
        return ScoredMention(
            mention=mention,
            text=text,
            identity=identity,
            semantic=semantic,
            consistency=consistency,
            s_pos=s_pos,
            s_neg=s_neg,
            crs_min=crs_min,
            perturbation=perturbation,
            conflict=conflict,
            risk=risk(s_pos - s_neg, crs_min),
            evidence=self._evidence(window, evidence),
        )

    def _identity(self, index: int, score: float) -> float:
        if score >= 0.5 or self._classes[index] is WordClass.NAME or index in self._by_word:
            return score
        claim = self._claim_of[index]
        floor = paraphrase_credit(self._classes[index], self._unmatched[claim], self._room[claim])
        if index in self._attested or self._supported_neighbour(index):
            floor = max(floor, _BESIDE_QUANTITY)
        return 1.0 - (1.0 - score) * (1.0 - floor)

    def _stability(
        self, mention: AnswerMention, text: str, window: int | None, identity: float, left_out: float,
        semantic: float, consistency: float, s_pos: float,
    ) -> tuple[float, str | None]:  # fmt: skip
        """CRS_min and the perturbation that gave it."""
        left_out_consistency = consistency * left_out if mention.type == "NUM" else consistency
        lowest = positive_alignment(mention.type, min(left_out, identity), semantic, left_out_consistency)
        deciding = LEAVE_ONE_OUT if lowest < s_pos else None
        if window is not None and identity > 0.5 and mention.type != "NUM":
            source = self._analysis.corpus.window_text(window)
            if text not in source:
                for name in PERTURBATIONS:
                    changed = min(self._perturbed.identity(text, source, name), identity)
                    value = positive_alignment(mention.type, changed, semantic, consistency)
                    if value < lowest:
                        lowest, deciding = value, name
        return min(lowest, s_pos), deciding

    def _evidence(self, window: int | None, evidence: ClaimEvidence) -> Evidence | None:
        if window is None:
            return None
        relevance = next((ranked.relevance for ranked in evidence.pool if ranked.window == window), 0.0)
        return self._analysis.evidence(window, relevance)

    # --- words -----------------------------------------------------------------------------------------

    def _word_risks(self, scored: list[ScoredMention]) -> NDArray[np.float64]:
        risks = np.zeros(len(self._analysis.words))
        for item in scored:
            mention = item.mention
            matches = self._aligner.claims[mention.claim].matches
            for i in mention.words:
                word = self._analysis.words[i]
                if mention.type == "NUM":
                    own = self._quantity_word_risk(item, word.start, word.end)
                elif item.conflict is not None and i not in self._by_word:
                    own = risk(item.s_pos, item.crs_min)
                elif len(mention.words) > 1 and i not in self._by_word:
                    identity = self._identity(i, matches[i].score)
                    own = risk(
                        positive_alignment(mention.type, identity, item.semantic, item.consistency), item.crs_min
                    )
                else:
                    own = item.risk
                risks[i] = max(risks[i], own)
        by_conflict: dict[int, float] = {}
        for item in scored:
            if item.conflict is not None:
                by_conflict[id(item.conflict)] = max(item.risk, by_conflict.get(id(item.conflict), 0.0))
        for i, conflict in self._by_word.items():
            risks[i] = max(risks[i], by_conflict.get(id(conflict), CONFLICT_RISK))
        self._share_within_phrases(scored, risks)
        return risks

    def _share_within_phrases(self, scored: list[ScoredMention], risks: NDArray[np.float64]) -> None:
        """Raise the doubtful words of a phrase to its mean risk: "winter holidays" stands or falls as one."""
        phrase: list[int] = []
        for item in [*scored, None]:
            words = item.mention.words if item is not None and item.mention.type == "NP" else ()
            adjacent = bool(phrase) and bool(words) and self._is_next(phrase[-1], words[0])
            if phrase and not adjacent:
                mean = float(np.mean(risks[phrase]))
                for i in phrase:
                    if risks[i] >= _DOUBTFUL:
                        risks[i] = max(risks[i], mean)
                phrase = []
            phrase.extend(words)

    def _is_next(self, left: int, right: int) -> bool:
        words = self._analysis.words
        return right == left + 1 and self._analysis.answer[words[left].end : words[right].start] == " "

    def _quantity_word_risk(self, item: ScoredMention, start: int, end: int) -> float:
        conflict = item.conflict
        if conflict is None or (start < conflict.answer_end and conflict.answer_start < end):
            return item.risk
        return 0.1
