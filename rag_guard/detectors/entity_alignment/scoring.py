"""The numbers of EAEV: weighted alignment, entity aggregation and the final risk.

``S_pos = w_id Id + w_sem Sem + w_con Con``, with weights per mention type that sum to 1;
``ESCM = ES_pos - beta ES_neg``; ``risk = 1 - sigmoid(kappa (ESCM - tau)) * ECRS'`` with ``ECRS'`` the minimum stability
rescaled to [0, 1]. The constants were set by hand and checked on held-out training groups; none is learnt.
"""

from __future__ import annotations

import math

from rag_guard.schema import MentionType

WEIGHTS: dict[MentionType, tuple[float, float, float]] = {
    "ENT": (0.70, 0.15, 0.15),
    "NUM": (0.20, 0.10, 0.70),
    "NP": (0.55, 0.40, 0.05),
}
"""(w_id, w_sem, w_con) per mention type."""

TOP_K = 3
BETA = 1.0
KAPPA = 9.0
TAU = 0.34
_STABILITY_FLOOR = -3.0  # an alignment that one perturbation destroys keeps 3/4 of its support


def positive_alignment(kind: MentionType, identity: float, semantic: float, consistency: float) -> float:
    """S_pos in [0, 1]."""
    w_id, w_sem, w_con = WEIGHTS[kind]
    return w_id * identity + w_sem * max(semantic, 0.0) + w_con * consistency


def rescaled_stability(ecrs_min: float) -> float:
    """ECRS_min' in [0, 1]: affine, 1 for a fully stable mention."""
    return min(max((ecrs_min - _STABILITY_FLOOR) / (1.0 - _STABILITY_FLOOR), 0.0), 1.0)


def risk(escm: float, ecrs_min: float) -> float:
    """The final risk of an entity or mention in [0, 1]."""
    return 1.0 - rescaled_stability(ecrs_min) / (1.0 + math.exp(-KAPPA * (escm - TAU)))


def entity_scores(s_pos: list[float], s_neg: list[float], crs_min: list[float]) -> tuple[float, float, float, float]:
    """(ES_pos, ES_neg, ECRS_min, ESCM) of the mentions of one entity."""
    top = sorted(s_pos, reverse=True)[:TOP_K]
    es_pos, es_neg = sum(top) / len(top), max(s_neg)
    return es_pos, es_neg, min(crs_min), es_pos - BETA * es_neg
