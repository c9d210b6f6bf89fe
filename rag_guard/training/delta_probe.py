"""Train a delta probe on stored contrast features and choose its chain and threshold on held-out groups."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rag_guard.decoding.smoothing import LabelPersistence, fit_persistence
from rag_guard.detectors.probe import Probe, ProbeConfig
from rag_guard.errors import InvalidInputError
from rag_guard.evaluation.metrics import (
    auroc,
    average_precision,
    best_threshold,
    example_scores,
    token_labels,
)
from rag_guard.evaluation.rows import LabelledExample
from rag_guard.models.loading import resolve_dtype
from rag_guard.training.features import read_features


@dataclass(frozen=True)
class ProbeData:
    """Answers with their stacked inputs.

    Attributes:
        rows: the labelled answers that features were found for.
        states: (tokens, size) float16, all answers one after the other.
        labels: (tokens,) bool, whether a token overlaps an annotated span.
        bounds: (answers + 1,) first token of each answer.
        offsets: (tokens, 2) code points.
    """

    rows: list[LabelledExample]
    states: NDArray[np.float16]
    labels: NDArray[np.bool_]
    bounds: NDArray[np.int64]
    offsets: NDArray[np.int32]

    def split(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Per-token ``values``, answer by answer."""
        return [values[a:b] for a, b in zip(self.bounds[:-1], self.bounds[1:], strict=True)]

    @property
    def hallucinated(self) -> NDArray[np.bool_]:
        """(answers,) whether an answer has any annotated span."""
        return np.array([bool(row.hallucinated) for row in self.rows])


@dataclass(frozen=True)
class ProbeScores:
    """Token and answer measures of one set of risks; None where a class is missing."""

    token_ap: float | None
    token_auroc: float | None
    answer_ap: float | None
    answer_auroc: float | None


def load_probe_data(rows: Sequence[LabelledExample], folder: str | Path, inputs: Sequence[str]) -> ProbeData:
    """Inputs and labels of those ``rows`` whose features lie in ``folder``; without_<layer> is with minus
    delta.

    Raises:
        InvalidInputError: no features are there, or not these inputs.
    """
    wanted = {row.id: row for row in rows}
    found, parts, labels, offsets = [], [], [], []
    for item in read_features(folder, dict.fromkeys(row.group for row in rows)):
        row = wanted.get(item.id)
        if row is None:
            continue
        found.append(row)
        parts.append(np.concatenate([_input(item.arrays, name, folder) for name in inputs], axis=1))
        spans = [(span.start, span.end) for span in row.labels or ()]
        labels.append(token_labels(item.offsets, spans))
        offsets.append(item.offsets)
    if not found:
        raise InvalidInputError(f"{folder} has no features of these rows; extract them first")
    bounds = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return ProbeData(found, np.concatenate(parts), np.concatenate(labels), bounds, np.concatenate(offsets))


def _input(arrays: dict[str, NDArray[Any]], name: str, folder: str | Path) -> NDArray[np.float16]:
    if name in arrays:
        return arrays[name]
    kind, _, layer = name.rpartition("_")
    if kind == "without" and {f"with_{layer}", f"delta_{layer}"} <= set(arrays):
        bare: NDArray[np.float16] = arrays[f"with_{layer}"] - arrays[f"delta_{layer}"]
        return bare
    raise InvalidInputError(f"inputs has {name!r}; {folder} has {', '.join(sorted(arrays))}")


def train_probe(
    data: ProbeData,
    config: ProbeConfig,
    *,
    epochs: int = 10,
    batch_tokens: int = 4096,
    learning_rate: float = 1e-3,
    weight_decay: float = 1e-4,
    answer_weight: float = 0.1,
    seed: int = 0,
    progress: Callable[[int, float, float], None] | None = None,
) -> Probe:
    """Fit a probe by AdamW on binary cross-entropy; the same seed and data give the same probe.

    Where the head reads across tokens, batches are whole answers, and the cross-entropy of the answer's own label
    against the mean of its three highest log-odds is added with ``answer_weight`` (ours).
    ``progress`` is called after each epoch with its number, its mean loss and the seconds it took.
    """
    torch.manual_seed(seed)
    generator = np.random.default_rng(seed)
    probe = Probe(config)
    mean, scale = moments(data.states)
    probe.mean.copy_(torch.from_numpy(mean))
    probe.scale.copy_(torch.from_numpy(scale))
    optimiser = torch.optim.AdamW(probe.parameters(), lr=learning_rate, weight_decay=weight_decay)
    steps = epochs * sum(1 for _ in _selections(data, config, batch_tokens, np.random.default_rng(seed)))
    # Epochs differ by a batch or two, as batches end with whole answers.
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, 2 * learning_rate, total_steps=steps + 2 * epochs + 8, pct_start=0.1
    )
    hallucinated = torch.from_numpy(data.hallucinated.astype(np.float32))
    native = resolve_dtype("auto", torch.device("cpu")) is torch.bfloat16
    for epoch in range(epochs):
        began, total, seen = time.monotonic(), 0.0, 0
        probe.train()
        for selection in _selections(data, config, batch_tokens, generator):
            states, targets, mask = _batch(data, config, selection)
            with torch.autocast("cpu", torch.bfloat16, enabled=native):
                odds = probe(states, mask)
            losses = nn.functional.binary_cross_entropy_with_logits(odds.float(), targets, reduction="none")
            if mask is None:
                loss = losses.mean()
            else:
                loss = (losses * mask).sum() / mask.sum()
                loss = loss + answer_weight * _answer_loss(odds.float(), mask, hallucinated[selection])
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(probe.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            count = len(targets) if mask is None else int(mask.sum())
            total += float(loss.detach()) * count
            seen += count
        if progress is not None:
            progress(epoch + 1, total / max(seen, 1), time.monotonic() - began)
    return probe.eval()


def _answer_loss(odds: Tensor, mask: Tensor, hallucinated: Tensor) -> Tensor:
    count = min(3, odds.shape[1])
    highest = odds.masked_fill(mask == 0, 0.0).gather(1, odds.masked_fill(mask == 0, -torch.inf).topk(count, dim=1)[1])
    # An answer may have fewer tokens than that; padding then counts for nothing.
    used = mask.sum(dim=1).clamp(min=1.0, max=float(count))
    return nn.functional.binary_cross_entropy_with_logits(highest.sum(dim=1) / used, hallucinated)


def moments(states: NDArray[np.float16], chunk: int = 16384) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Mean and standard deviation of each column; a constant column has deviation 1."""
    total = np.zeros(states.shape[1])
    squares = np.zeros(states.shape[1])
    for first in range(0, len(states), chunk):
        part = states[first : first + chunk].astype(np.float32)
        total += part.sum(axis=0, dtype=np.float64)
        squares += np.einsum("ij,ij->j", part, part)
    mean = total / len(states)
    deviation = np.sqrt(np.maximum(squares / len(states) - mean**2, 0.0))
    return mean.astype(np.float32), np.where(deviation > 1e-6, deviation, 1.0).astype(np.float32)


def _selections(
    data: ProbeData, config: ProbeConfig, batch_tokens: int, generator: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """One epoch: indices of tokens per batch, or of answers where the head reads across tokens."""
    if config.head != "mlp":
        yield from _answer_batches(np.diff(data.bounds), batch_tokens, generator)
        return
    order = generator.permutation(len(data.labels))
    for first in range(0, len(order), batch_tokens):
        yield np.sort(order[first : first + batch_tokens])


def _batch(data: ProbeData, config: ProbeConfig, selection: NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor | None]:
    """States, targets and mask of one batch."""
    if config.head == "mlp":
        states = torch.from_numpy(data.states[selection].astype(np.float32))
        return states, torch.from_numpy(data.labels[selection].astype(np.float32)), None
    lengths = (data.bounds[selection + 1] - data.bounds[selection]).tolist()
    states = torch.zeros(len(selection), max(lengths), data.states.shape[1])
    targets = torch.zeros(len(selection), max(lengths))
    mask = torch.zeros(len(selection), max(lengths))
    for place, (index, length) in enumerate(zip(selection.tolist(), lengths, strict=True)):
        part = slice(int(data.bounds[index]), int(data.bounds[index + 1]))
        states[place, :length] = torch.from_numpy(data.states[part].astype(np.float32))
        targets[place, :length] = torch.from_numpy(data.labels[part].astype(np.float32))
        mask[place, :length] = 1.0
    return states, targets, mask


def _answer_batches(
    lengths: NDArray[np.int64], batch_tokens: int, generator: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Answers of like length together, about ``batch_tokens`` per batch, batches in random order."""
    filled = [index for index in generator.permutation(len(lengths)).tolist() if lengths[index]]
    filled.sort(key=lambda index: int(lengths[index]) // 32)
    batches: list[list[int]] = [[]]
    used = 0
    for index in filled:
        if used and used + lengths[index] > batch_tokens:
            batches.append([])
            used = 0
        batches[-1].append(index)
        used += int(lengths[index])
    for place in generator.permutation(len(batches)).tolist():
        yield np.array(batches[place], dtype=np.int64)


def probe_risks(probe: Probe, data: ProbeData, answers_per_batch: int = 64) -> list[NDArray[np.float64]]:
    """Raw risks of every answer."""
    results: list[NDArray[np.float64]] = []
    states = data.split(data.states)
    for first in range(0, len(states), answers_per_batch):
        results.extend(probe.risks(states[first : first + answers_per_batch]))
    return results


def score_risks(risks: Sequence[NDArray[np.float64]], data: ProbeData) -> ProbeScores:
    """Token measures over all tokens together; an answer's risk is its highest (0 without tokens)."""
    tokens = np.concatenate(list(risks))
    answers = answer_risks(risks)
    truth = data.hallucinated
    return ProbeScores(
        average_precision(data.labels, tokens),
        auroc(data.labels, tokens),
        average_precision(truth, answers),
        auroc(truth, answers),
    )


def answer_risks(risks: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The highest token risk of every answer."""
    return np.array([float(values.max(initial=0.0)) for values in risks])


def fit_decoding(probe: Probe, holdout: ProbeData) -> tuple[Probe, dict[str, float]]:
    """Choose chain and threshold on held-out groups: the chain by token average precision plus example F1, the
    threshold by example F1 averaged over tasks. Returns the probe with them in its configuration, and what they
    reached there."""
    raw = probe_risks(probe, holdout)
    fitted = fit_persistence(holdout.split(holdout.labels))
    base = float(np.clip(holdout.labels.mean(), 1e-3, 0.5))
    best: tuple[float, LabelPersistence, float, float, float] | None = None
    for chain in _chains(fitted, base):
        smoothed = chain.smooth(raw)
        threshold, f1 = _task_threshold(holdout, answer_risks(smoothed))
        precision = average_precision(holdout.labels, np.concatenate(smoothed)) or 0.0
        if best is None or f1 + precision > best[0]:
            best = (f1 + precision, chain, threshold, f1, precision)
    assert best is not None
    _, chain, threshold, f1, precision = best
    probe.config = replace(
        probe.config,
        stay=chain.stay,
        stay_hallucinated=chain.stay_hallucinated,
        base_rate=chain.base_rate,
        threshold=float(np.clip(threshold, 1e-6, 1.0 - 1e-6)),
    )
    return probe, {"example_f1": f1, "token_ap": precision}


def _task_threshold(data: ProbeData, risks: NDArray[np.float64]) -> tuple[float, float]:
    """The threshold with the highest example F1, averaged over the tasks that have hallucinated answers, and that mean.

    Over all answers at once the task with the most hallucinations would decide for the others.
    """
    tasks = np.array([row.task or "" for row in data.rows])
    parts = [(data.hallucinated[tasks == task], risks[tasks == task]) for task in sorted(set(tasks.tolist()))]
    parts = [(truth, values) for truth, values in parts if truth.any()]
    if len(parts) == 1:
        threshold, f1 = best_threshold(*parts[0])
        return float(threshold), float(f1)
    candidates = np.unique(np.quantile(risks, np.linspace(0.0, 1.0, 401), method="nearest"))
    means = [
        float(np.mean([example_scores(truth, values >= candidate).f1 for truth, values in parts]))
        for candidate in candidates
    ]
    best = len(means) - 1 - int(np.argmax(means[::-1]))
    return float(candidates[best]), means[best]


def _chains(fitted: LabelPersistence, base: float) -> Iterator[LabelPersistence]:
    for rate in (0.5, max(base, 0.05), (0.5 * max(base, 0.05)) ** 0.5):
        for stay in (0.5, 0.8, 0.93, 0.97, 0.993):
            yield LabelPersistence(stay, None, rate)
        yield LabelPersistence(fitted.stay, fitted.stay_hallucinated, rate)


def evaluate_probe(probe: Probe, data: ProbeData) -> dict[str, float | None]:
    """Measures of a finished probe with its own chain and threshold."""
    config = probe.config
    chain = LabelPersistence(config.stay, config.stay_hallucinated, config.base_rate)
    smoothed = chain.smooth(probe_risks(probe, data))
    scores = score_risks(smoothed, data)
    flagged = answer_risks(smoothed) >= config.threshold
    example = example_scores(data.hallucinated, flagged)
    return {
        "rows": len(data.rows),
        "example_f1": example.f1,
        "example_precision": example.precision,
        "example_recall": example.recall,
        "token_ap": scores.token_ap,
        "token_auroc": scores.token_auroc,
        "answer_ap": scores.answer_ap,
        "answer_auroc": scores.answer_auroc,
    }
