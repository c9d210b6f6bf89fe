"""Step 5 of EAEV: mentions of one entity are judged together, and every risk is traced to what decided it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_guard.detectors.entity_alignment.conflicts import Conflict
from rag_guard.detectors.entity_alignment.mentions import AnswerMention
from rag_guard.detectors.entity_alignment.scoring import WEIGHTS, entity_scores, risk
from rag_guard.schema import Entity, Evidence, Mention
from rag_guard.text.analysis import Analysis


@dataclass(frozen=True)
class ScoredMention:
    """A mention with its signals; see :class:`rag_guard.schema.Mention`."""

    mention: AnswerMention
    text: str
    identity: float
    semantic: float
    consistency: float
    s_pos: float
    s_neg: float
    crs_min: float
    perturbation: str | None
    conflict: Conflict | None
    risk: float
    evidence: Evidence | None


def aggregate(analysis: Analysis, scored: Sequence[ScoredMention]) -> tuple[Entity, ...]:
    """Entities in order of their first mention."""
    groups: dict[tuple[str, str], list[ScoredMention]] = {}
    for item in scored:
        groups.setdefault((item.mention.type, canonical_form(analysis, item)), []).append(item)
    entities = []
    for (_, canonical), items in groups.items():
        es_pos, es_neg, ecrs_min, escm = entity_scores(
            [i.s_pos for i in items], [i.s_neg for i in items], [i.crs_min for i in items]
        )
        entities.append(
            Entity(
                canonical=canonical,
                type=items[0].mention.type,
                mentions=tuple(_mention(item) for item in items),
                es_pos=es_pos,
                es_neg=es_neg,
                ecrs_min=ecrs_min,
                escm=escm,
                risk=risk(escm, ecrs_min),
            )
        )
    return tuple(entities)


def canonical_form(analysis: Analysis, item: ScoredMention) -> str:
    """Lower case, punctuation and articles removed."""
    if item.mention.quantity is not None:
        return " ".join(item.text.casefold().split())
    return " ".join(analysis.words[i].norm for i in item.mention.words)


def _mention(item: ScoredMention) -> Mention:
    return Mention(
        start=item.mention.start,
        end=item.mention.end,
        text=item.text,
        type=item.mention.type,
        risk=item.risk,
        identity=item.identity,
        semantic=item.semantic,
        consistency=item.consistency,
        s_pos=item.s_pos,
        s_neg=item.s_neg,
        crs_min=item.crs_min,
        crs_delta=item.s_pos - item.crs_min,
        deciding_perturbation=item.perturbation,
        conflict=item.conflict.kind if item.conflict else None,
        signal=signal_of(item),
        evidence=item.evidence,
    )


def signal_of(item: ScoredMention) -> str:
    """The signal that takes most from the mention's support."""
    if item.conflict is not None:
        return "conflict"
    w_id, w_sem, w_con = WEIGHTS[item.mention.type]
    losses = {
        "identity": w_id * (1 - item.identity),
        "semantic": w_sem * (1 - item.semantic),
        "consistency": w_con * (1 - item.consistency),
        "stability": (item.s_pos - item.crs_min) / 4,
    }
    return max(losses, key=lambda name: losses[name])


def explain_conflict(conflict: Conflict) -> str:
    """One sentence for a person."""
    if conflict.kind == "negation":
        return "The documents say this with the opposite polarity."
    if conflict.kind == "record":
        return f"The record has {conflict.expected!r} for this."
    if conflict.kind.startswith("value of another"):
        return f"The documents have this value for something else; here they have {conflict.expected!r}."
    return f"The documents have {conflict.expected!r} here."
