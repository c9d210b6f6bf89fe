"""Steps 2 and 3 of EAEV: which window speaks of a mention, and how well mention and window agree.

``Id`` is surface identity in [0, 1]; ``Sem`` the agreement of the local windows (claim and e*), in [-1, 1];
``Con`` is the quantitative agreement in [0, 1] (see ``quantity_alignment``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from rag_guard.detectors.entity_alignment.mentions import AnswerMention
from rag_guard.detectors.entity_alignment.similarity import WordSimilarity, is_spelling_variant
from rag_guard.detectors.entity_alignment.word_classes import WordClass
from rag_guard.text.analysis import Analysis
from rag_guard.text.relevance import RankedWindow
from rag_guard.text.words import Word, is_unspaced

ELSEWHERE = 0.8  # the documents have the word, but not where they speak of this claim
CONTEXT = 0.9  # found in a heading, key or table header of the window
COMPOUND = 0.9  # Wi-Fi and WiFi, or one part of a compound
VARIANT = 0.8
QUESTION = 0.75  # the question gave the word, so using it commits to nothing new
_SEMANTIC_POOL = 3

PARAPHRASE_CREDIT = {
    WordClass.NAME: 0.0,
    WordClass.NUMBER: 0.0,
    WordClass.NOUN: 0.75,
    WordClass.MODIFIER: 0.85,
    WordClass.VERB: 0.85,
}
"""What a single unmatched word of a claim is worth: in a long passage it is nearly always the claim's own wording.

Several unmatched words in one claim are new information, so the credit falls with each further one (see
:func:`paraphrase_credit`)."""

_CREDIT_DECAY = 2.0  # unmatched words
_ROOM = 40  # content words of evidence from which a paraphrase has all the room it needs
_LEAST_CREDIT = 0.65  # share of the credit that any number of unmatched words leaves
_FEW_WORDS = 16  # content words of evidence up to which the likest of them is worth looking at
_TOLERATED = 5.0  # unmatched words that a claim in its own wording may have, given room


@dataclass
class WordMatch:
    """Where one word of the answer is found: ``score`` in [0, 1], and ``how`` it matched."""

    score: float = 0.0
    window: int | None = None
    how: str = "none"


@dataclass
class ClaimEvidence:
    """The windows that speak of one claim, and what they have of its words.

    Attributes:
        pool: the most relevant windows, best first; ``pool[0]`` is the claim's primary evidence.
        matches: per index into ``analysis.words``.
        second: like ``matches`` with the primary window left out.
    """

    claim: int
    pool: list[RankedWindow]
    matches: dict[int, WordMatch] = field(default_factory=dict)
    second: dict[int, WordMatch] = field(default_factory=dict)

    @property
    def best(self) -> RankedWindow | None:
        """The primary evidence e*."""
        return self.pool[0] if self.pool else None


class Aligner:
    """Aligns the mentions of one analysis with its documents; lexically first, then by meaning."""

    def __init__(self, analysis: Analysis, mentions: Sequence[AnswerMention]) -> None:
        self.analysis = analysis
        self.mentions = mentions
        self.language = analysis.language
        self.claims: dict[int, ClaimEvidence] = {}
        self._room: dict[int, int] = {}
        self._variants: dict[str, set[int]] = {}
        self._candidates: dict[int, list[Word]] = {}
        self._question = {word.stem for word in analysis.question_words if not word.is_function}
        for mention in mentions:
            if mention.claim not in self.claims:
                self.claims[mention.claim] = self._evidence(mention)
        for mention in mentions:
            if mention.type != "NUM":
                self._match(mention)

    def _evidence(self, mention: AnswerMention) -> ClaimEvidence:
        claim = mention.claim
        pool = self.analysis.rank(claim, mention.antecedent) if mention.antecedent else self.analysis.ranked[claim]
        return ClaimEvidence(claim, pool)

    def _match(self, mention: AnswerMention) -> None:
        evidence = self.claims[mention.claim]
        words = self.analysis.words
        unspaced = is_unspaced(mention_text(self.analysis, mention)[0])
        for position, index in enumerate(mention.words):
            word = words[index]
            left = words[mention.words[position - 1]].norm if position else ""
            right = words[mention.words[position + 1]].norm if position + 1 < len(mention.words) else ""
            best, second = WordMatch(), WordMatch()
            for rank, ranked in enumerate(evidence.pool):
                if unspaced:
                    score, how = self._unspaced(word.norm, left, right, ranked.window)
                else:
                    score, how = self._in_window(word, ranked.window)
                if score > best.score:
                    best = WordMatch(score, ranked.window, how)
                if rank > 0 and score > second.score:
                    second = WordMatch(score, ranked.window, how)
                if best.score == 1.0 and second.score == 1.0:
                    break
            elsewhere = self._elsewhere(word, unspaced)
            for match in (best, second):
                if match.score < elsewhere.score:
                    match.score, match.window, match.how = elsewhere.score, elsewhere.window, elsewhere.how
            evidence.matches[index], evidence.second[index] = best, second
        if mention.type == "ENT":
            self._match_joined(mention, evidence)
            self._match_acronym(mention, evidence)

    def _in_window(self, word: Word, window: int) -> tuple[float, str]:
        corpus = self.analysis.corpus
        if word.stem in corpus.stems[window]:
            return 1.0, "exact"
        if word.stem in corpus.context_stems[window]:
            return CONTEXT, "context"
        if len(word.norm) >= 4 and word.norm in corpus.joined_text(window):
            return COMPOUND, "compound"
        if window in self._variant_windows(word):
            return VARIANT, "variant"
        return 0.0, "none"

    def _variant_windows(self, word: Word) -> set[int]:
        """Windows with a spelling variant of a word."""
        windows = self._variants.get(word.norm)
        if windows is None:
            found = self.analysis.corpus.variants(word.norm[:4]).items()
            windows = {w for other, having in found if is_spelling_variant(word, other) for w in having}
            self._variants[word.norm] = windows
        return windows

    def _unspaced(self, char: str, left: str, right: str, window: int) -> tuple[float, str]:
        text = self.analysis.corpus.joined_text(window)
        if (left and left + char in text) or (right and char + right in text):
            return 1.0, "exact"
        if char in text:
            return (0.9 if not left and not right else 0.5), "variant"
        return 0.0, "none"

    def _elsewhere(self, word: Word, unspaced: bool) -> WordMatch:
        corpus = self.analysis.corpus
        if word.stem in self._question:
            return WordMatch(QUESTION, None, "question")
        if unspaced:
            return WordMatch()
        if (windows := corpus.postings.get(word.stem)) or word.norm in corpus.norms:
            return WordMatch(ELSEWHERE, windows[0] if windows else None, "elsewhere")
        return WordMatch()

    def _match_joined(self, mention: AnswerMention, evidence: ClaimEvidence) -> None:
        """Wi-Fi for WiFi: a name of several words that a window writes as one."""
        joined = "".join(self.analysis.words[i].norm for i in mention.words)
        if len(mention.words) < 2 or len(joined) < 4 or all(evidence.matches[i].score for i in mention.words):
            return
        corpus = self.analysis.corpus
        windows = [ranked.window for ranked in evidence.pool] + corpus.postings.get(joined, [])
        for window in windows:
            if joined in corpus.joined_text(window):
                for i in mention.words:
                    for matches in (evidence.matches, evidence.second):
                        if matches[i].score < COMPOUND:
                            matches[i] = WordMatch(COMPOUND, window, "compound")
                return

    def _match_acronym(self, mention: AnswerMention, evidence: ClaimEvidence) -> None:
        """WMO for World Meteorological Organization, in either direction, and CA for California."""
        words = [self.analysis.words[i] for i in mention.words]
        corpus = self.analysis.corpus
        if len(words) == 1 and words[0].norm in corpus.acronyms and words[0].text.isupper():
            hit = corpus.acronyms[words[0].norm]
        elif len(words) >= 2 and (initials := "".join(word.norm[0] for word in words)) in corpus.postings:
            hit = corpus.postings[initials][0]
        else:
            self._match_abbreviations(mention, evidence)
            return
        for index in mention.words:
            for matches in (evidence.matches, evidence.second):
                if matches[index].score < 1.0:
                    matches[index] = WordMatch(1.0, hit, "acronym")

    def _match_abbreviations(self, mention: AnswerMention, evidence: ClaimEvidence) -> None:
        """The short form of a name, alone or as part of a longer one: Marsh Drive for Marsh Dr."""
        for index in mention.words:
            if evidence.matches[index].score < 1.0:
                window = self.analysis.corpus.abbreviation(self.analysis.words[index].norm)
                if window is not None:
                    evidence.matches[index] = evidence.second[index] = WordMatch(1.0, window, "acronym")

    def unresolved(self) -> list[tuple[Word, list[Word]]]:
        """Words without a lexical match, each with the words of its claim's windows that could mean the same."""
        result: list[tuple[Word, list[Word]]] = []
        for mention in self.mentions:
            if mention.type == "NUM" or is_unspaced(mention_text(self.analysis, mention)[0]):
                continue
            if not self.means_by_word(mention.claim):
                continue
            matches = self.claims[mention.claim].matches
            open_words = [i for i in mention.words if matches[i].score == 0.0]
            if open_words:
                candidates = self.candidates(mention.claim)
                result.extend((self.analysis.words[i], candidates) for i in open_words)
        return result

    def candidates(self, claim: int) -> list[Word]:
        """Distinct content words of a claim's best windows, and of what gives these their meaning, that the claim
        has not used itself: what is already said cannot be said again in other words."""
        cached = self._candidates.get(claim)
        if cached is not None:
            return cached
        corpus = self.analysis.corpus
        used = {word.stem for word in self.analysis.claim_words[claim]}
        distinct: dict[str, Word] = {}
        for ranked in self.claims[claim].pool[:_SEMANTIC_POOL]:
            for word in (*corpus.content_words(ranked.window), *corpus.context_words[ranked.window]):
                if (
                    word.stem not in used
                    and not word.is_function
                    and not word.text[0].isdigit()
                    and not is_unspaced(word.text[0])
                ):
                    distinct.setdefault(word.norm, word)
        self._candidates[claim] = list(distinct.values())
        return self._candidates[claim]

    def means_by_word(self, claim: int) -> bool:
        """Whether a similar word in a claim's windows is a sign of paraphrase.

        Among many words one is always similar: in long passages the similarity of the best one tells supported words
        from others no better than chance, so nothing is embedded for them.
        """
        return 0 < self.room(claim) <= _FEW_WORDS

    def room(self, claim: int) -> int:
        """Content words of a claim's best windows."""
        known = self._room.get(claim)
        if known is None:
            corpus = self.analysis.corpus
            pool = self.claims[claim].pool[:_SEMANTIC_POOL]
            stems = (corpus.stems[r.window] | corpus.context_stems[r.window] for r in pool)
            known = self._room[claim] = len(frozenset().union(*stems))
        return known

    def match_by_meaning(self, similarity: WordSimilarity) -> None:
        """Give every unresolved word the similarity of its best candidate."""
        for mention in self.mentions:
            if mention.type == "NUM" or is_unspaced(mention_text(self.analysis, mention)[0]):
                continue
            evidence = self.claims[mention.claim]
            for index in mention.words:
                match = evidence.matches[index]
                if match.score == 0.0 and mention.type != "ENT" and self.means_by_word(mention.claim):
                    word = self.analysis.words[index]
                    candidates = self.candidates(mention.claim)
                    if word.text[0].isupper() and self.language != "de":
                        # Another name is another name, however alike.
                        candidates = [c for c in candidates if not self.analysis.corpus.is_cased_name(c.norm)]
                    score, _ = similarity.best(word, candidates, self.language)
                    if score > 0.0:
                        new = WordMatch(score, evidence.pool[0].window, "semantic")
                        evidence.matches[index], evidence.second[index] = new, WordMatch(score * 0.9, None, "semantic")

    def local_agreement(self, claim: int) -> float:
        """Sem(s, e*) of a claim: how much of its content its best window carries, by word or by meaning.

        The coverage by the best window alone, raised by what its words mean in the other windows of the pool.
        """
        evidence = self.claims[claim]
        corpus = self.analysis.corpus
        meant = sum(
            corpus.idf(self.analysis.words[i].stem) * m.score
            for i, m in evidence.matches.items()
            if m.how == "semantic"
        )
        total = sum(corpus.idf(self.analysis.words[i].stem) for i in evidence.matches)
        best = evidence.best.relevance if evidence.best else 0.0
        return min(best + meant / total, 1.0) if total else 1.0


def paraphrase_credit(word_class: WordClass, unmatched: float, room: int) -> float:
    """Identity in [0, 1] of a word without any match.

    Args:
        unmatched: unmatched words of the claim, this one included.
        room: content words of the evidence; a passage of a few words leaves little to paraphrase.
    """
    share = min(room / _ROOM, 1.0)
    excess = max(unmatched - _TOLERATED * share, 0.0)
    kept = _LEAST_CREDIT + (1.0 - _LEAST_CREDIT) * math.exp(-excess / _CREDIT_DECAY)
    return PARAPHRASE_CREDIT.get(word_class, 0.0) * share * kept


def mention_text(analysis: Analysis, mention: AnswerMention) -> str:
    """The text of a mention."""
    return analysis.answer[mention.start : mention.end]
