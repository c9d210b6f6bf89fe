"""Negation and opposition: the answer asserts what its evidence denies, or the other way round."""

from __future__ import annotations

from collections.abc import Sequence

from rag_guard.detectors.entity_alignment.alignment import Aligner, ClaimEvidence
from rag_guard.detectors.entity_alignment.conflicts import Conflict
from rag_guard.detectors.entity_alignment.word_classes import WordClass
from rag_guard.text.lexicons.negation import CONTRASTS, NEGATIONS
from rag_guard.text.words import Word

_SCOPE = 3  # content words that a negation reaches
_COVERED = 0.8  # share of a claim that a window must have to deny it, and the other way round
_CLAUSE_ENDS = frozenset().union(*CONTRASTS.values()) | {"and", "und", "et", "y", "e", "i", "och", "a", "ja", "eta"}
_ONLY = frozenset("only just merely nur seulement solo solamente solament bara jen vain".split())
_PREDICATE_NEGATIONS = frozenset("not nicht pas no non inte ej ne ei eivät ez لا ليس ليست نیست नहीं não niet".split())
_FINITE = frozenset(
    "is are was were has have had does offers provides ist sind war hat est sont a es son tiene è sono ha är har".split()
)
_HYPOTHETICAL = frozenset(
    "if whether unless unclear unknown could may might wenn ob falls si se que om jestli pokud jos ba".split()
)


class PolarityChecker:
    """Finds claims whose polarity differs from that of their evidence."""

    def __init__(self, aligner: Aligner, classes: Sequence[WordClass]) -> None:
        self._aligner = aligner
        self._analysis = aligner.analysis
        self._corpus = aligner.analysis.corpus
        self._classes = classes
        self._cues = NEGATIONS.get(aligner.language or "", frozenset())

    def conflicts(self, claim: int) -> list[Conflict]:
        """All polarity conflicts of one claim."""
        return [*self._with_prose(claim), *self._with_records(claim)]

    def _claim_indices(self, claim: int) -> list[int]:
        item = self._analysis.claims[claim]
        return [i for i, w in enumerate(self._analysis.words) if item.start <= w.start and w.end <= item.end]

    # --- sentences ----------------------------------------------------------------------------------------------

    def _with_prose(self, claim: int) -> list[Conflict]:
        evidence = self._aligner.claims[claim]
        best = evidence.best
        if best is None or best.own < _COVERED or self._corpus.windows[best.window].fields:
            return []
        # Another window that says the same with the same polarity settles it.
        rivals = [r for r in evidence.pool if r.own >= best.own - 0.05]
        indices = self._claim_indices(claim)
        found: list[Conflict] = []
        for ranked in rivals:
            conflict = self._compare(indices, evidence, ranked.window)
            if conflict is None:
                return []
            found.append(conflict)
        return found[:1]

    def _compare(self, indices: list[int], evidence: ClaimEvidence, window: int) -> Conflict | None:
        words = self._analysis.words
        answer_negated = _scopes([words[i] for i in indices], self._cues, self._analysis.answer)
        source = self._corpus.window_words[window]
        source_negated = _scopes(source, self._cues, self._text(window))
        by_stem = {word.stem: word for word in source if not word.is_function}
        aligned = [(i, by_stem[words[i].stem]) for i in indices if words[i].stem in by_stem and i in evidence.matches]
        if any(w.norm in _HYPOTHETICAL for w in source):
            return None
        content = [w for w in source if not w.is_function]
        stems = {words[i].stem for i in indices}
        if sum(w.stem in stems for w in content if w.norm not in self._cues) < _COVERED * len(content):
            return None
        denied = [i for i, other in aligned if other in source_negated and words[i] not in answer_negated]
        if denied and not any(words[i] in answer_negated for i in indices):
            others = [by_stem[words[i].stem] for i in denied]
            cue = source_negated[others[0]]
            low, high = min(cue.start, *(w.start for w in others)), max(cue.end, *(w.end for w in others))
            return Conflict(
                "negation", window, low, high, words[denied[0]].start, words[denied[-1]].end,
                self._text(window)[low:high],
            )  # fmt: skip
        asserted = [i for i, other in aligned if other not in source_negated and words[i] in answer_negated]
        if asserted and not source_negated and not self._implies_absence(source):
            cue = answer_negated[words[asserted[0]]]
            others = [by_stem[words[i].stem] for i in asserted]
            low, high = min(w.start for w in others), max(w.end for w in others)
            start = min(cue.start, words[asserted[0]].start)
            end = max(cue.end, words[asserted[-1]].end)
            return Conflict("negation", window, low, high, start, end, self._text(window)[low:high])
        return None

    def _text(self, window: int) -> str:
        return self._corpus.documents[self._corpus.windows[window].document].text

    def _implies_absence(self, source: Sequence[Word]) -> bool:
        return any(word.norm in self._cues for word in source)

    # --- records ------------------------------------------------------------------------------------------------

    def _with_records(self, claim: int) -> list[Conflict]:
        """Fields with a truth value whose name the claim says with the other polarity."""
        flags = self._corpus.truth_fields
        if not flags:
            return []
        words = [self._analysis.words[i] for i in self._claim_indices(claim)]
        negated = self._denied_segments(words)
        stems = {word.stem for word in words} | {word.norm for word in words}
        found: list[Conflict] = []
        for window, field, truth in flags:
            said = _said(self._corpus.own_name(window, field), stems, words)
            if said and truth is any(word in negated for word in said):
                found.append(
                    Conflict(
                        "record", window, field.name_start, field.end, said[0].start, said[-1].end,
                        self._text(window)[field.start : field.end],
                    )  # fmt: skip
                )
        return found


    def _denied_segments(self, words: Sequence[Word]) -> set[Word]:
        """Words that a negation in the answer denies: what follows it, lists included, up to a contrast or new verb,
        and the subject of a short denial ("Wi-Fi and parking are not available")."""
        denied: set[Word] = set()
        contrasts = CONTRASTS.get(self._aligner.language or "", frozenset())
        start = 0
        for position, cue in enumerate(words):
            if position and self._breaks(words[position - 1], cue, contrasts):
                start = position
            if cue.norm not in self._cues and not cue.norm.endswith("n't"):
                continue
            end = position + 1
            while end < len(words) and not self._breaks(words[end - 1], words[end], contrasts):
                if words[end].norm in _FINITE and end > position + 1:
                    break
                end += 1
            denied.update(words[position + 1 : end])
            content = [w for w in words[position + 1 : end] if not w.is_function]
            if len(content) <= 1 and (cue.norm in _PREDICATE_NEGATIONS or cue.norm.endswith("n't")):
                denied.update(words[start:position])
        return denied

    def _breaks(self, left: Word, right: Word, contrasts: frozenset[str]) -> bool:
        gap = self._analysis.answer[left.end : right.start]
        return right.norm in contrasts or any(char in ".;:!?()。；" for char in gap)


def _said(name: Sequence[Word], stems: set[str], words: Sequence[Word]) -> list[Word]:
    """The claim's words that say all of a field's name close together, in any order or written as one, or []."""
    if not name:
        return []
    wanted = {word.stem for word in name}
    if wanted <= stems:
        for first, word in enumerate(words):
            if word.stem in wanted:
                near = [w for w in words[first : first + len(wanted) + 1] if w.stem in wanted]
                if {w.stem for w in near} == wanted:
                    return near
        return []
    joined = "".join(word.norm for word in name)
    for first in range(len(words)):
        text = ""
        for last in range(first, min(first + 4, len(words))):
            text += words[last].norm
            if text == joined:
                return list(words[first : last + 1])
    return []


def _scopes(words: Sequence[Word], cues: frozenset[str], text: str) -> dict[Word, Word]:
    """Content words that a negation reaches, with its cue: the next few up to punctuation, "and" or a contrast."""
    reached: dict[Word, Word] = {}
    for position, cue in enumerate(words):
        if cue.norm not in cues and not cue.norm.endswith("n't"):
            continue
        following = words[position + 1 :]
        if following and following[0].norm in _ONLY:
            continue
        count, end = 0, cue.end
        for other in following:
            if other.norm in _CLAUSE_ENDS or any(char in ",.;:!?()，。；" for char in text[end : other.start]):
                break
            end = other.end
            if other.is_function:
                continue
            reached.setdefault(other, cue)
            count += 1
            if count == _SCOPE:
                break
    return reached
