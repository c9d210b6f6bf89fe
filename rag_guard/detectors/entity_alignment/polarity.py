"""Negation and opposition: the answer asserts what its evidence denies, or the other way round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from rag_guard.detectors.entity_alignment.alignment import Aligner
from rag_guard.detectors.entity_alignment.conflicts import Conflict
from rag_guard.text.lexicons.negation import CONTRASTS, NEGATIONS
from rag_guard.text.lexicons.relations import are_antonyms
from rag_guard.text.lexicons.verdicts import VERDICTS
from rag_guard.text.relevance import rank_windows
from rag_guard.text.windows import Field
from rag_guard.text.words import Word

_SCOPE = 2  # content words that a negation reaches
_COVERED = 0.75  # share of an answer's phrase that a document's must have to be about the same
_COVERED_BACK = 0.6  # and the other way round: the document may add a detail
_CANDIDATES = 4
_BREAKS = frozenset(",.;:!?()，。；、|\n")
_ALL_CONTRASTS = frozenset().union(*CONTRASTS.values())
_CONJUNCTIONS = frozenset({"and", "und", "et", "y", "e", "och", "ja", "eta", "or", "oder", "ou", "o"})
_ONLY = frozenset("only just merely nur seulement solo solamente solament bara jen vain".split())
_PREDICATE_NEGATIONS = frozenset("not nicht pas no non inte ej ne ei eivät ez لا ليس ليست نیست नहीं não niet".split())
_FINITE = frozenset(
    "is are was were has have had does offers provides ist sind war hat est sont a es son tiene è sono ha är".split()
)
_HYPOTHETICAL = frozenset(
    "if whether unless unclear unknown could may might wenn ob falls si se que om jestli pokud jos ba".split()
)


@dataclass(frozen=True)
class _Phrase:
    """Words between punctuation, the stems of what they are about, and whether they only suppose it."""

    words: list[Word]
    stems: frozenset[str]
    is_hypothetical: bool

    def says_the_same(self, other: _Phrase) -> bool:
        """Whether both are about the same, leaving negation aside."""
        shared = len(self.stems & other.stems)
        return (
            shared >= 2
            and shared >= _COVERED * len(self.stems)
            and shared >= _COVERED_BACK * len(other.stems)
            and not self.is_hypothetical
            and not other.is_hypothetical
        )


class PolarityChecker:
    """Finds claims whose polarity differs from that of their evidence."""

    def __init__(self, aligner: Aligner) -> None:
        self._aligner = aligner
        self._analysis = aligner.analysis
        self._corpus = aligner.analysis.corpus
        self._cached_fields: dict[int, list[tuple[int, Field, list[Word], bool]]] = {}
        self._cached_phrases: dict[int, list[_Phrase]] = {}
        self._cues = NEGATIONS.get(aligner.language or "", frozenset())

    def conflicts(self, claim: int) -> list[Conflict]:
        """All polarity conflicts of one claim."""
        return [*self._with_prose(claim), *self._with_records(claim)]

    # --- sentences ----------------------------------------------------------------------------------------------

    def _with_prose(self, claim: int) -> list[Conflict]:
        """A phrase of the claim that a phrase of its evidence says word for word, but for a negation.

        Another phrase that says it with the same polarity settles it.
        """
        found: list[Conflict] = []
        for phrase in self._phrases(self._analysis.claim_words[claim], self._analysis.answer):
            conflict: Conflict | None = None
            for window, other in self._candidates(claim):
                if not phrase.says_the_same(other):
                    continue
                difference = self._difference(phrase, other, window)
                if difference is None:
                    conflict = None
                    break
                conflict = conflict or difference
            if conflict is not None:
                found.append(conflict)
        return found

    def _candidates(self, claim: int) -> Iterator[tuple[int, _Phrase]]:
        """The phrases of a claim's best windows of prose."""
        for ranked in self._aligner.claims[claim].pool[:_CANDIDATES]:
            if not self._corpus.windows[ranked.window].fields:
                for phrase in self._window_phrases(ranked.window):
                    yield ranked.window, phrase

    def _window_phrases(self, window: int) -> list[_Phrase]:
        phrases = self._cached_phrases.get(window)
        if phrases is None:
            phrases = self._phrases(self._corpus.window_words[window], self._text(window))
            self._cached_phrases[window] = phrases
        return phrases

    def answers(self, claim: int) -> Conflict | int | None:
        """For a bare yes or no: the window that answers the question so, or the conflict with one that does not.

        None for other claims, and where no window speaks of what was asked.
        """
        item = self._analysis.claims[claim]
        words = self._analysis.claim_words[claim]
        verdict = VERDICTS.get(words[0].norm) if len(words) == 1 else None
        question = self._analysis.question_words
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

    def _phrases(self, words: Sequence[Word], text: str) -> list[_Phrase]:
        """Words between punctuation and contrasts."""
        runs: list[list[Word]] = []
        end = 0
        for position, word in enumerate(words):
            if not position or word.norm in _ALL_CONTRASTS or not _BREAKS.isdisjoint(text[end : word.start]):
                runs.append([])
            runs[-1].append(word)
            end = word.end
        return [
            _Phrase(
                run,
                frozenset(w.stem for w in run if not w.is_function and not self._is_cue(w)),
                any(w.norm in _HYPOTHETICAL for w in run),
            )
            for run in runs
        ]

    def _is_cue(self, word: Word) -> bool:
        return word.norm in self._cues or word.norm.endswith("n't")

    def _difference(self, phrase: _Phrase, other: _Phrase, window: int) -> Conflict | None:
        """The conflict of two phrases of which exactly one is negated, with the negated part of both."""
        opposite = self._opposite_relation(phrase, other, window)
        if opposite is not None:
            return opposite
        own_scope = _scopes(phrase.words, self._is_cue)
        other_scope = _scopes(other.words, self._is_cue)
        if bool(own_scope) == bool(other_scope):
            return None
        scope = own_scope or other_scope
        cue = next(iter(scope.values()))
        stems = {word.stem for word in scope}
        mine = [word for word in phrase.words if word.stem in stems]
        theirs = [word for word in other.words if word.stem in stems]
        if not mine or not theirs:
            return None
        if own_scope:
            mine = sorted([*mine, cue])
        else:
            theirs = sorted([*theirs, cue])
        low, high = theirs[0].start, theirs[-1].end
        return Conflict("negation", window, low, high, mine[0].start, mine[-1].end, self._text(window)[low:high])

    def _opposite_relation(self, phrase: _Phrase, other: _Phrase, window: int) -> Conflict | None:
        """Function words that are opposites in the same place: before and after, above and below, with and without."""
        theirs = {word.norm for word in other.words}
        # "over 26,000" is an approximation, which the comparison of quantities judges.
        modifiers = {quantity.modifier_start for quantity in self._analysis.quantities}
        for mine in phrase.words:
            if not mine.is_function or mine.norm in theirs or mine.start in modifiers:
                continue
            for word in other.words:
                if (
                    word.is_function
                    and are_antonyms(mine.norm, word.norm, self._aligner.language)
                    and _followed_alike(phrase.words, mine, other.words, word)
                ):
                    return Conflict("antonym", window, word.start, word.end, mine.start, mine.end, word.text)
        return None

    def _text(self, window: int) -> str:
        return self._corpus.documents[self._corpus.windows[window].document].text

    # --- records ------------------------------------------------------------------------------------------------

    def _with_records(self, claim: int) -> list[Conflict]:
        """Fields with a truth value whose name the claim says with the other polarity."""
        return [
            Conflict(
                "record",
                window,
                field.name_start,
                field.end,
                said[0].start,
                said[-1].end,
                self._text(window)[field.start : field.end],
            )
            for window, field, said, agrees in self._said_fields(claim)
            if not agrees
        ]

    def attested_words(self, claim: int) -> set[int]:
        """Indices of the words beside a field's name that the claim says with the field's polarity.

        "available" in "parking is available" says no more than the field does.
        """
        found: set[int] = set()
        for _, _, said, agrees in self._said_fields(claim):
            if agrees:
                named = self._analysis.words_in(said[0].start, said[-1].end)
                for step, at in ((-1, named.start - 1), (1, named.stop)):
                    claim_range = self._analysis.claim_ranges[claim]
                    while at in claim_range and self._is_grammar(at):
                        at += step
                    if at in claim_range and not self._analysis.words[at].is_function:
                        found.add(at)
        return found

    def _is_grammar(self, index: int) -> bool:
        """Whether a word only links two words of one statement: a function word that joins no second thing."""
        word = self._analysis.words[index]
        return word.is_function and word.norm not in _CONJUNCTIONS

    def _said_fields(self, claim: int) -> list[tuple[int, Field, list[Word], bool]]:
        """Fields with a truth value that a claim names: window, field, the claim's words, whether it agrees."""
        cached = self._cached_fields.get(claim)
        if cached is not None:
            return cached
        found: list[tuple[int, Field, list[Word], bool]] = []
        if flags := self._corpus.truth_fields:
            words = self._analysis.claim_words[claim]
            negated = self._denied_segments(words)
            stems = {word.stem for word in words} | {word.norm for word in words}
            for window, field, truth in flags:
                said = _said(self._corpus.own_name(window, field), stems, words)
                if said:
                    found.append((window, field, said, truth is not any(word in negated for word in said)))
        self._cached_fields[claim] = found
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
            # The predicate of a denial: "available" in "is not available at the inn".
            predicate = list(takewhile(lambda w: not w.is_function, words[position + 1 : end]))
            if len(predicate) <= 1 and (cue.norm in _PREDICATE_NEGATIONS or cue.norm.endswith("n't")):
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


def _followed_alike(phrase: Sequence[Word], mine: Word, other: Sequence[Word], word: Word) -> bool:
    """Whether the next content words after two words are the same."""
    after = next((w.stem for w in phrase if w.start > mine.start and not w.is_function), None)
    return after is not None and after == next(
        (w.stem for w in other if w.start > word.start and not w.is_function), None
    )
