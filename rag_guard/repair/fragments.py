"""Replace a claim by the sentence of a document that speaks of the same thing."""

from __future__ import annotations

from rag_guard.repair.edits import Change
from rag_guard.repair.outline import Outline
from rag_guard.schema import Span
from rag_guard.text.claims import ClaimRange
from rag_guard.text.lexicons.cues import candidates
from rag_guard.text.words import find_words

_STOPS = ".!?。！？।؟"


def fragment_changes(
    outline: Outline, spans: list[Span], claim: ClaimRange, covered: float
) -> tuple[Change, ...] | None:
    """The change of a claim into a source sentence that says at least ``covered`` of what the claim says rightly.

    A claim that says nothing rightly is replaced by the sentence that answers the question.
    """
    analysis = outline.analysis
    index = analysis.claims.index(claim)
    wrong = {w.stem for w in analysis.claim_words[index] for s in spans if s.start < w.end and w.start < s.end}
    right = {w.stem for w in analysis.claim_words[index] if not w.is_function} - wrong
    asked = {w.stem for w in analysis.question_words if not w.is_function}
    if any(c.start < claim.end and claim.start < c.end for c in analysis.citations):
        return None
    for ranked in _windows(outline, index, asked if len(right) < 2 else set()):
        window = analysis.corpus.windows[ranked]
        text = analysis.corpus.window_text(ranked)
        here = analysis.corpus.stems[ranked] | analysis.corpus.context_stems[ranked]
        wanted = right if len(right) >= 2 else asked
        if window.kind != "prose" or "\n" in text or len(wanted) < 1 or len(wanted & here) < covered * len(wanted):
            continue
        if _has_a_speaker(outline, text) and not _has_a_speaker(outline, outline.answer[claim.start : claim.end]):
            continue
        if _is_said(outline, index, ranked, text):
            continue
        evidence = (analysis.evidence(ranked, 1.0),)
        return (
            Change(claim.start, claim.end, _ended_like(outline, claim, text), "the documents' own sentence", evidence),
        )
    return None


def _has_a_speaker(outline: Outline, text: str) -> bool:
    """Whether a text speaks in the first person, as reviews do: in the answer it would be the answerer speaking."""
    speakers = {word for lexicon in candidates(outline.language, text) for word in lexicon.cues("speakers").entries}
    return any(word.norm in speakers for word in find_words(text))


def _windows(outline: Outline, index: int, asked: set[str]) -> list[int]:
    ranked = [item.window for item in outline.analysis.ranked[index]]
    if asked:
        stems = outline.analysis.corpus.stems
        rest = sorted(range(len(stems)), key=lambda w: -len(asked & stems[w]))
        ranked = rest[:3] + ranked
    return list(dict.fromkeys(ranked))[:5]


def _is_said(outline: Outline, index: int, window: int, text: str) -> bool:
    """Whether the answer says a source sentence already, in its words or as another claim that rests on it."""
    if " ".join(text.split()).rstrip(_STOPS) in " ".join(outline.answer.split()):
        return True
    analysis = outline.analysis
    stems = analysis.corpus.stems[window]
    for other, words in enumerate(analysis.claim_words):
        own = {w.stem for w in words if not w.is_function}
        if other != index and stems and len(own & stems) >= 0.7 * len(stems):
            return True
    return False


def _ended_like(outline: Outline, claim: ClaimRange, text: str) -> str:
    """A source sentence with a full stop where the claim has one, and none where it has none."""
    ends = outline.answer[claim.end - 1] in _STOPS
    if ends and text[-1] not in _STOPS:
        return text + outline.answer[claim.end - 1]
    return text.rstrip(_STOPS) if not ends and text[-1] in _STOPS and len(text.rstrip(_STOPS)) > 1 else text
