"""What may be done about a fault, smallest intervention first: nested sets of actions, as in Mulakkayala et al.

``remove`` cuts the smallest part that carries the fault, the whole sentence last. ``extract`` tries the documents' own
value first, then their own sentence, then what ``remove`` does. ``rewrite`` first asks a language model, then does what
``extract`` does. Every proposal is only that: the re-check of the answer accepts it or asks for the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from rag_guard.models.linguistic import load_parser
from rag_guard.repair.edits import Change
from rag_guard.repair.fragments import fragment_changes
from rag_guard.repair.outline import Outline
from rag_guard.repair.parts import part_cuts
from rag_guard.repair.rewriting import Rewriter, rewrite
from rag_guard.repair.values import value_changes
from rag_guard.schema import Report, Span
from rag_guard.text.blocks import find_cells
from rag_guard.text.claims import ClaimRange

Strategy = Literal["remove", "extract", "rewrite"]

_MOST_OF_IT = 0.75  # of what a contradicted claim says rightly must be in the sentence that replaces it
_SOME_OF_IT = 0.6
_EMPTY_CELL = "–"
_QUOTES = 3


@dataclass(frozen=True)
class Proposal:
    """One way to repair a fault: changes inside a sentence, or the whole ``sentence`` (or row, or code block) away."""

    changes: tuple[Change, ...] = ()
    sentence: tuple[int, int] | None = None


def proposals(
    strategy: Strategy, outline: Outline, report: Report, span: Span, rewriter: Rewriter | None
) -> Iterator[Proposal]:
    """Proposals for one flagged span, to be tried in order; the last one takes the sentence."""
    sentence = outline.sentence_of(span.start, span.end)
    if sentence is None:
        return
    kind = outline.blocks[outline.block_of(span.start) or 0].kind
    if kind in ("table_row", "table_header", "code"):
        sentence = next(s for s in outline.sentences[outline.block_of(span.start) or 0])
    claim = next((c for c in outline.analysis.claims if c.start < span.end and span.start < c.end), None)
    spans = [s for s in report.spans if claim and s.start < claim.end and claim.start < s.end]
    if strategy == "rewrite" and rewriter is not None and claim is not None and kind != "code":
        yield from _rewritten(outline, spans, claim, rewriter)
    if strategy != "remove":
        changes = value_changes(outline, report, span)
        if changes:
            yield Proposal(changes)
        if span.label == "contradicted" and claim is not None and kind != "code":
            yield from _fragment(outline, spans, claim, _MOST_OF_IT)
    if kind == "table_row":
        yield from _cell(outline, span)
    else:
        for cut in part_cuts(outline, sentence, span.start, span.end, _parser(outline)):
            yield Proposal(tuple(Change(c.start, c.end, c.replacement, _reason(span), span.evidence) for c in cut))
    if strategy != "remove" and claim is not None and kind not in ("code", "table_row"):
        yield from _fragment(outline, spans, claim, _SOME_OF_IT)
    yield Proposal(sentence=sentence)


def _reason(span: Span) -> str:
    return "the documents say otherwise" if span.label == "contradicted" else "the documents do not say this"


def _parser(outline: Outline) -> Any | None:
    return load_parser(outline.language) if outline.language else None


def _fragment(outline: Outline, spans: list[Span], claim: ClaimRange, covered: float) -> Iterator[Proposal]:
    if claim.kind in ("sentence", "list_item", "word", "table_cell"):
        changes = fragment_changes(outline, spans, claim, covered)
        if changes:
            yield Proposal(changes)


def _rewritten(outline: Outline, spans: list[Span], claim: ClaimRange, rewriter: Rewriter) -> Iterator[Proposal]:
    analysis = outline.analysis
    index = analysis.claims.index(claim)
    wrong = {w.stem for w in analysis.claim_words[index] for s in spans if s.start < w.end and w.start < s.end}
    right = frozenset(w.stem for w in analysis.claim_words[index] if not w.is_function) - wrong
    evidence = analysis.evidence_of(index)[:_QUOTES]
    if not evidence:
        return
    quotes = [item.quote for item in evidence]
    text = rewrite(rewriter, outline.answer[claim.start : claim.end], quotes, right, outline.language)
    if text is not None and outline.without_splitting_marks(claim.start, claim.end) == (claim.start, claim.end, ""):
        yield Proposal((Change(claim.start, claim.end, text, "rewritten from the evidence", evidence),))


def _cell(outline: Outline, span: Span) -> Iterator[Proposal]:
    """A wrong cell empty, unless it names its row or is all that the row says of its name."""
    row = outline.blocks[outline.block_of(span.start) or 0]
    cells = find_cells(outline.answer, row)
    position = next((i for i, (start, end) in enumerate(cells) if start <= span.start < end), 0)
    if position > 0 and len(cells) > 2:
        yield Proposal((Change(*cells[position], _EMPTY_CELL, _reason(span), span.evidence),))
