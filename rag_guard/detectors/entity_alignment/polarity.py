"""Negation and opposition: the answer asserts what its evidence denies, or the other way round."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rag_guard.detectors.entity_alignment.alignment import Aligner
from rag_guard.detectors.entity_alignment.conflicts import Conflict
from rag_guard.text.lexicons.negation import CONTRASTS, NEGATIONS
from rag_guard.text.lexicons.verdicts import VERDICTS
from rag_guard.text.relevance import rank_windows
from rag_guard.text.words import Word

_SCOPE = 3  # content words that a negation reaches
_COVERED = 0.75  # share of a phrase that another must have to be about the same, both ways
_CANDIDATES = 4
_ALL_CONTRASTS = frozenset().union(*CONTRASTS.values())
_CONJUNCTIONS = frozenset({"and", "und", "et", "y", "e", "och", "ja", "eta"})
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

    def __init__(self, aligner: Aligner) -> None:
        self._aligner = aligner
        self._analysis = aligner.analysis
        self._corpus = aligner.analysis.corpus
        self._cues = NEGATIONS.get(aligner.language or "", frozenset())

    def conflicts(self, claim: int) -> list[Conflict]:
        """All polarity conflicts of one claim."""
        return [*self._with_prose(claim), *self._with_records(claim)]

    def _claim_indices(self, claim: int) -> list[int]:
        item = self._analysis.claims[claim]
        return [i for i, w in enumerate(self._analysis.words) if item.start <= w.start and w.end <= item.end]

    # --- sentences ----------------------------------------------------------------------------------------------

    def _with_prose(self, claim: int) -> list[Conflict]:
        """A phrase of the claim that a phrase of its evidence says word for word, but for a negation.

        Another phrase that says it with the same polarity settles it.
        """
        own = [self._analysis.words[i] for i in self._claim_indices(claim)]
        found: list[Conflict] = []
        for phrase in self._phrases(own, self._analysis.answer):
            conflict: Conflict | None = None
            for ranked in self._aligner.claims[claim].pool[:_CANDIDATES]:
                if self._corpus.windows[ranked.window].fields:
                    continue
                for other in self._phrases(self._corpus.window_words[ranked.window], self._text(ranked.window)):
                    if not self._says_the_same(phrase, other):
                        continue
                    difference = self._difference(phrase, other, ranked.window)
                    if difference is None:
                        conflict = None
                        break
                    conflict = conflict or difference
                else:
                    continue
                break
            if conflict is not None:
                found.append(conflict)
        return found

    def answers(self, claim: int) -> Conflict | int | None:
        """For a bare yes or no: the window that answers the question so, or the conflict with one that does not.

        None for other claims, and where no window speaks of what was asked.
        """
        item = self._analysis.claims[claim]
        words = [self._analysis.words[i] for i in self._claim_indices(claim)]
        verdict = VERDICTS.get(words[0].norm) if len(words) == 1 else None
        question = [word for word in self._analysis.question_words]
        content = {w.stem for w in question if not w.is_function and not self._is_cue(w)}
        if verdict is None or not content:
            return None
        asked_negated = any(self._is_cue(word) for word in question)
        for ranked in rank_windows(question, (), self._corpus, limit=_CANDIDATES):
            phrase = self._corpus.window_words[ranked.window]
            stems = {w.stem for w in phrase if not w.is_function and not self._is_cue(w)}
            if len(content & stems) < _COVERED * len(content) or any(w.norm in _HYPOTHETICAL for w in phrase):
                continue
            denied = any(other.stem in content for other in _scopes(phrase, self._is_cue))
            if (denied == asked_negated) == verdict:
                return ranked.window
            window = self._corpus.windows[ranked.window]
            return Conflict("negation", ranked.window, window.start, window.end, item.start, item.end)
        return None

    def _phrases(self, words: Sequence[Word], text: str) -> list[list[Word]]:
        """Words between punctuation and contrasts."""
        phrases: list[list[Word]] = []
        for position, word in enumerate(words):
            gap = text[words[position - 1].end : word.start] if position else ""
            if not position or word.norm in _ALL_CONTRASTS or any(char in ",.;:!?()，。；、|\n" for char in gap):
                phrases.append([])
            phrases[-1].append(word)
        return phrases

    def _says_the_same(self, phrase: Sequence[Word], other: Sequence[Word]) -> bool:
        if any(word.norm in _HYPOTHETICAL for word in (*phrase, *other)):
            return False
        stems = {w.stem for w in phrase if not w.is_function and not self._is_cue(w)}
        others = {w.stem for w in other if not w.is_function and not self._is_cue(w)}
        shared = len(stems & others)
        return shared >= 2 and shared >= _COVERED * len(stems) and shared >= _COVERED * len(others)

    def _is_cue(self, word: Word) -> bool:
        return word.norm in self._cues or word.norm.endswith("n't")

    def _difference(self, phrase: Sequence[Word], other: Sequence[Word], window: int) -> Conflict | None:
        """The conflict of two phrases of which exactly one is negated, with the negated part of both."""
        own_scope = _scopes(phrase, self._is_cue)
        other_scope = _scopes(other, self._is_cue)
        if bool(own_scope) == bool(other_scope):
            return None
        scope = own_scope or other_scope
        cue = next(iter(scope.values()))
        stems = {word.stem for word in scope}
        mine = [word for word in phrase if word.stem in stems]
        theirs = [word for word in other if word.stem in stems]
        if not mine or not theirs:
            return None
        if own_scope:
            mine = sorted([*mine, cue])
        else:
            theirs = sorted([*theirs, cue])
        low, high = theirs[0].start, theirs[-1].end
        return Conflict(
            "negation", window, low, high, mine[0].start, mine[-1].end, self._text(window)[low:high]
        )

    def _text(self, window: int) -> str:
        return self._corpus.documents[self._corpus.windows[window].document].text

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


def _scopes(words: Sequence[Word], is_cue: Callable[[Word], bool]) -> dict[Word, Word]:
    """Content words of a phrase that a negation reaches, with its cue: the next few, up to an "and"."""
    reached: dict[Word, Word] = {}
    for position, cue in enumerate(words):
        following = words[position + 1 :]
        if not is_cue(cue) or (following and following[0].norm in _ONLY):
            continue
        count = 0
        for other in following:
            if other.norm in _CONJUNCTIONS or count == _SCOPE:
                break
            if not other.is_function:
                reached.setdefault(other, cue)
                count += 1
    return reached
