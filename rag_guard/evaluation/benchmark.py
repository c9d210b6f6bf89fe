"""From what a guard said of labelled rows to one JSON-ready object of figures, with what others published."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import fmean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_guard.errors import InvalidInputError
from rag_guard.evaluation import metrics
from rag_guard.evaluation.environment import peak_rss_mb
from rag_guard.evaluation.rows import LabelledExample
from rag_guard.evaluation.scoring import Scored
from rag_guard.text.words import Word, find_words

PUBLISHED_RAGTRUTH: Sequence[Mapping[str, Any]] = (
    {"name": "RAGAS", "example_f1": 0.520},
    {"name": "TruLens", "example_f1": 0.604},
    {"name": "GPT-4-turbo", "example_f1": 0.634},
    {"name": "LettuceDetect-base", "example_f1": 0.761, "span_f1": 0.554},
    {"name": "LettuceDetect-large", "example_f1": 0.792, "span_f1": 0.589},
    {"name": "RAG-HAT", "example_f1": 0.839},
)
"""Overall figures on RAGTruth's test split, as LettuceDetect's paper (arXiv 2502.17125) has them."""

REFIND_IOU: Mapping[str, float] = {
    "ar": 0.3743,
    "cs": 0.2761,
    "de": 0.3518,
    "en": 0.3525,
    "es": 0.2152,
    "eu": 0.4074,
    "fi": 0.5061,
    "fr": 0.4734,
    "it": 0.3127,
}
"""REFIND's IoU on nine languages of the Mu-SHROOM test split (SemEval-2025 task 3)."""

PUBLISHED_MUSHROOM: Sequence[Mapping[str, Any]] = (
    {"name": "XLM-R", "iou": 0.0345},
    {"name": "FAVA", "iou": 0.2787},
    {"name": "REFIND", "iou": 0.3633},
)


@dataclass(frozen=True)
class Outcome:
    """One labelled row, what the guard said of it, and how long a check of it alone took, if measured."""

    row: LabelledExample
    scored: Scored
    milliseconds: float | None = None

    @property
    def flagged(self) -> bool:
        """Whether the guard reported any span; statuses without a verdict flag nothing."""
        return bool(self.scored.spans)

    @property
    def score(self) -> float:
        """The answer's risk: its highest word risk."""
        return max(self.scored.score, max(self.scored.risks, default=0.0))

    @cached_property
    def words(self) -> list[Word]:
        """The words of the answer, one per risk."""
        return find_words(self.row.answer)

    @cached_property
    def gold(self) -> list[tuple[int, int]]:
        """The labelled spans."""
        return [(label.start, label.end) for label in self.row.labels or ()]

    @cached_property
    def overlap(self) -> metrics.Overlap:
        """Characters shared by reported and labelled spans."""
        return metrics.character_overlap(self.gold, self.scored.spans)

    @property
    def has_spans(self) -> bool:
        """Whether the labels say where the hallucinations are, not only that there are some."""
        return self.row.labels is not None and self.row.labels_complete


def select_rows(
    rows: Iterable[LabelledExample], *, tasks: Sequence[str] = (), limit: int | None = None
) -> list[LabelledExample]:
    """The rows of ``tasks`` (all if empty), or ``limit`` of them, drawn by a hash of their source group.

    Raises:
        InvalidInputError: nothing is left, two rows share an id, or a row says nothing of hallucinations.
    """
    wanted = {task.casefold() for task in tasks}
    every = list(rows)
    chosen = [row for row in every if not wanted or (row.task or "").casefold() in wanted]
    if not chosen:
        known = ", ".join(sorted({str(row.task) for row in every})) or "none: there are no rows"
        raise InvalidInputError(f"task is {', '.join(tasks) or None!r}; the tasks in this split are {known}")
    repeated = [name for name, count in Counter(row.id for row in chosen).items() if count > 1]
    if repeated:
        raise InvalidInputError(f"id {repeated[0]!r} is given to {len(repeated)} or more rows; ids must be unique")
    unlabelled = next((row.id for row in chosen if row.hallucinated is None), None)
    if unlabelled is not None:
        raise InvalidInputError(
            f"row {unlabelled!r} has neither labels nor hallucinated; write labels: [] for a clean answer"
        )
    if limit is None or limit >= len(chosen):
        return chosen
    if limit < 1:
        raise InvalidInputError(f"limit is {limit}; pass a positive number of rows, or none for all")
    return sorted(chosen, key=lambda row: hashlib.sha256(row.group.encode("utf-8", "surrogatepass")).digest())[:limit]


def evaluate(outcomes: Sequence[Outcome], *, resamples: int = metrics.BOOTSTRAP_RESAMPLES) -> dict[str, Any]:
    """Figures per task and ``overall``, per generator model, and recall per type of label.

    All rates are in [0, 1]. ``ece`` is of the answers' risks, ``token_ece`` of the words'. Figures that need
    spans are over the rows whose labels have all of them, None without any. ``intervals`` are 95 % bootstrap
    intervals over source groups.
    """
    groups = _by(outcomes, lambda outcome: outcome.row.task)
    figures: dict[str, Any] = {
        task: _figures(members, resamples) for task, members in groups.items() if task is not None
    }
    figures["overall"] = _figures(outcomes, resamples)
    figures["models"] = {
        model: _short_figures(members)
        for model, members in sorted(_by(outcomes, lambda outcome: outcome.row.model or "unknown").items())
    }
    figures["label_types"] = _label_types(outcomes)
    return figures


def evaluate_mushroom(outcomes: Sequence[Outcome], *, resamples: int = metrics.BOOTSTRAP_RESAMPLES) -> dict[str, Any]:
    """IoU, soft-label correlation and the IoU of flagging every character, per language and their ``mean``.

    ``mean`` averages the languages that REFIND reports, of those evaluated; ``mean_all`` averages all.
    """
    languages = _by(outcomes, lambda outcome: outcome.row.language or "unknown")
    figures: dict[str, Any] = {}
    for language, members in sorted(languages.items()):
        values = np.array([_mushroom_values(outcome) for outcome in members])
        figures[language] = {
            "rows": len(members),
            **dict(
                zip(
                    ("iou", "soft_correlation", "all_characters_iou"),
                    values.mean(axis=0).tolist(),
                    strict=True,
                )
            ),
            "intervals": {
                name: metrics.bootstrap_interval(
                    [outcome.row.group for outcome in members],
                    partial(_weighted_mean, values[:, index]),
                    resamples=resamples,
                )
                for index, name in enumerate(("iou", "soft_correlation"))
            },
            "statuses": _statuses(members),
            **_cost(members),
        }
    compared = [language for language in languages if language in REFIND_IOU]
    means = {"mean": compared or list(languages), "mean_all": list(languages)}
    for name, members_of_mean in means.items():
        figures[name] = {
            "rows": sum(figures[language]["rows"] for language in members_of_mean),
            "languages": sorted(members_of_mean),
            **{
                metric: fmean(figures[language][metric] for language in members_of_mean)
                for metric in ("iou", "soft_correlation", "all_characters_iou")
            },
            **_cost([outcome for language in members_of_mean for outcome in languages[language]]),
        }
    return figures


def _weighted_mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(np.average(values, weights=weights))


def _mushroom_values(outcome: Outcome) -> tuple[float, float, float]:
    row, length = outcome.row, len(outcome.row.answer)
    predicted = metrics.character_probabilities(length, _soft_spans(outcome))
    gold = metrics.character_probabilities(length, row.soft_labels or ())
    return (
        metrics.span_iou(outcome.gold, outcome.scored.spans),
        metrics.soft_correlation(gold, predicted),
        metrics.span_iou(outcome.gold, [(0, length)]),
    )


def _soft_spans(outcome: Outcome) -> Iterable[tuple[int, int, float]]:
    """Word risks as soft labels; what lies between two words gets the lower risk of both."""
    previous: tuple[int, float] | None = None
    for word, risk in zip(outcome.words, outcome.scored.risks, strict=True):
        if previous is not None:
            yield previous[0], word.start, min(previous[1], risk)
        yield word.start, word.end, risk
        previous = word.end, risk


def _figures(outcomes: Sequence[Outcome], resamples: int) -> dict[str, Any]:
    gold = np.array([bool(outcome.row.hallucinated) for outcome in outcomes])
    flagged = np.array([outcome.flagged for outcome in outcomes])
    scores = np.array([outcome.score for outcome in outcomes])
    located = [outcome for outcome in outcomes if outcome.has_spans]
    overlaps = np.array([outcome.overlap for outcome in located], float).reshape(-1, 3)
    example = metrics.example_scores(gold, flagged)
    span = metrics.span_scores([outcome.overlap for outcome in located]) if located else None
    tokens, risks = _token_grid(located)
    groups = [outcome.row.group for outcome in outcomes]

    def interval(
        statistic: Callable[[NDArray[np.float64]], float | None], groups: Sequence[str] = groups
    ) -> tuple[float, float] | None:
        return metrics.bootstrap_interval(groups, statistic, resamples=resamples) if groups else None

    return {
        "rows": len(outcomes),
        "positives": int(gold.sum()),
        "example_f1": example.f1,
        "example_precision": example.precision,
        "example_recall": example.recall,
        "example_accuracy": float((gold == flagged).mean()),
        "example_auroc": metrics.auroc(gold, scores),
        "false_alarm_rate": float(flagged[~gold].mean()) if not gold.all() else None,
        "span_f1": span.f1 if span else None,
        "span_precision": span.precision if span else None,
        "span_recall": span.recall if span else None,
        "token_ap": metrics.average_precision(tokens, risks),
        "token_auroc": metrics.auroc(tokens, risks) if len(tokens) else None,
        "answer_ap": metrics.average_precision(gold, scores),
        "ece": metrics.expected_calibration_error(gold, scores),
        "token_ece": metrics.expected_calibration_error(tokens, risks),
        "all_positive_f1": metrics.all_positive_f1(gold),
        **_cost(outcomes),
        "intervals": {
            "example_f1": interval(lambda weights: metrics.example_scores(gold, flagged, weights).f1),
            "example_auroc": interval(lambda weights: metrics.auroc(gold, scores, weights)),
            "span_f1": interval(
                lambda weights: metrics.scores_of_counts(*(weights @ overlaps).tolist()).f1,
                [outcome.row.group for outcome in located],
            ),
        },
        "statuses": _statuses(outcomes),
    }


def _short_figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    names = (
        "rows",
        "positives",
        "example_f1",
        "example_precision",
        "example_recall",
        "example_auroc",
        "false_alarm_rate",
        "span_f1",
        "all_positive_f1",
    )
    figures = _figures(outcomes, resamples=0)
    return {name: figures[name] for name in names}


def _token_grid(outcomes: Sequence[Outcome]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Every word of every answer: whether it is labelled, and its risk."""
    labels = [
        metrics.token_labels([(word.start, word.end) for word in outcome.words], outcome.gold) for outcome in outcomes
    ]
    risks = [np.array(outcome.scored.risks) for outcome in outcomes]
    return (
        np.concatenate(labels) if labels else np.zeros(0, bool),
        np.concatenate(risks) if risks else np.zeros(0),
    )


def _label_types(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Per type of labelled span: the share that a reported span touches, and that of their characters."""
    found: dict[str, list[tuple[bool, int, int]]] = {}
    for outcome in outcomes:
        for label in outcome.row.labels or ():
            shared = metrics.character_overlap([(label.start, label.end)], outcome.scored.spans).shared
            names = [label.type or "unknown"] + ["implicit_true"] * label.implicit_true
            for name in names:
                found.setdefault(name, []).append((shared > 0, int(shared), label.end - label.start))
    return {
        name: {
            "spans": len(items),
            "span_recall": fmean(touched for touched, _, _ in items),
            "character_recall": sum(shared for _, shared, _ in items) / sum(length for _, _, length in items),
        }
        for name, items in sorted(found.items())
    }


def held_out_thresholds(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The thresholds with the best F1 of answers and of words; meant for held-out training groups only."""
    gold = [bool(outcome.row.hallucinated) for outcome in outcomes]
    tokens, risks = _token_grid([outcome for outcome in outcomes if outcome.has_spans])
    found: dict[str, Any] = {}
    if any(gold):
        found["example"] = metrics.best_threshold(gold, [outcome.score for outcome in outcomes])._asdict()
    if tokens.any():
        found["token"] = metrics.best_threshold(tokens, risks)._asdict()
    return found


def _cost(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    measured = [outcome.milliseconds for outcome in outcomes if outcome.milliseconds is not None]
    return {"median_ms": median(measured) if measured else None, "peak_rss_mb": peak_rss_mb()}


def _statuses(outcomes: Sequence[Outcome]) -> dict[str, int]:
    return dict(Counter(outcome.scored.status for outcome in outcomes).most_common())


def _by(outcomes: Sequence[Outcome], key: Callable[[Outcome], str | None]) -> dict[Any, list[Outcome]]:
    groups: dict[Any, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(key(outcome), []).append(outcome)
    return groups
