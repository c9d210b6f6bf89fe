"""Contrast features of labelled answers on disk: extracted once, resumable at any moment, in half precision.

One safetensors file per source group (its answers share their documents, so they share one pass). A file
appears whole or not at all; what exists is skipped, so an interrupted run is continued by starting it again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_guard.detectors.contrast import residual
from rag_guard.errors import InvalidInputError
from rag_guard.evaluation.rows import LabelledExample
from rag_guard.models.causal_lm import CausalLM, ScoredAnswer, ScoreRequest

_HALF_MAX = 65504.0


@dataclass(frozen=True)
class FeatureSpec:
    """What is stored per answer token.

    Attributes:
        model: name of the causal LM, for the record.
        deltas: layers whose difference between the two views is stored (``delta_<layer>``).
        views: layers whose state with documents is stored too (``with_<layer>``).
        residuals: layers whose contextual residual is stored (``residual_<layer>``); one at most, and in
            ``deltas``.
        scores: whether log-probability, entropy and rank of both views are stored (``scores``, (n, 6):
            first three with documents, then three without). Needs the whole stack, deltas alone stop at
            their highest layer.
    """

    model: str
    deltas: tuple[int, ...] = (18,)
    views: tuple[int, ...] = ()
    residuals: tuple[int, ...] = (18,)
    scores: bool = False

    def __post_init__(self) -> None:
        if len(self.residuals) > 1 or not set(self.residuals) <= set(self.deltas):
            raise InvalidInputError(
                f"residuals is {self.residuals}; name at most one layer, and one of deltas {self.deltas}"
            )


@dataclass(frozen=True)
class AnswerFeatures:
    """Stored features of one answer of n tokens: offsets (n, 2) and each array (n, width) float16 or (n, 6)
    float32.
    """

    id: str
    group: str
    offsets: NDArray[np.int32]
    arrays: dict[str, NDArray[np.floating]]


def extract_features(
    rows: Iterable[LabelledExample],
    model: CausalLM,
    folder: str | Path,
    spec: FeatureSpec,
    *,
    progress: Callable[[int, int, float], None] | None = None,
) -> int:
    """Extract what is missing under ``folder``; returns the number of groups written.

    Groups are taken in the order of their first row. ``progress`` is called after each group written with the
    groups done, the groups wanted, and the answer tokens per second so far.

    Raises:
        InvalidInputError: ``folder`` holds features that lack some of ``spec``. More than it is fine.
    """
    folder = Path(folder)
    spec = _agreed_spec(folder, spec)
    groups: dict[str, list[LabelledExample]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    missing = {group: rows for group, rows in groups.items() if not feature_file(folder, group).exists()}
    done, tokens, began = len(groups) - len(missing), 0, time.monotonic()
    for group, members in missing.items():
        tokens += _extract_group(group, members, model, folder, spec)
        done += 1
        if progress is not None:
            progress(done, len(groups), tokens / max(time.monotonic() - began, 1e-9))
    return len(missing)


def missing_groups(rows: Iterable[LabelledExample], folder: str | Path, spec: FeatureSpec) -> list[str]:
    """Groups of ``rows`` that :func:`extract_features` would still have to extract.

    Raises:
        InvalidInputError: ``folder`` holds features that lack some of ``spec``.
    """
    _agreed_spec(Path(folder), spec)
    groups = dict.fromkeys(row.group for row in rows)
    return [group for group in groups if not feature_file(Path(folder), group).exists()]


def read_features(folder: str | Path, groups: Iterable[str]) -> Iterator[AnswerFeatures]:
    """Stored answers of those of ``groups`` that have been extracted, in order."""
    from safetensors import safe_open

    for group in groups:
        path = feature_file(Path(folder), group)
        if not path.exists():
            continue
        with safe_open(str(path), framework="numpy") as stored:
            ids = json.loads(stored.metadata()["ids"])
            arrays = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118 - not a mapping
        bounds = np.concatenate([[0], np.cumsum(arrays.pop("lengths"))])
        offsets = arrays.pop("offsets")
        for identifier, first, last in zip(ids, bounds[:-1], bounds[1:], strict=True):
            own = {name: array[first:last] for name, array in arrays.items()}
            yield AnswerFeatures(identifier, group, offsets[first:last], own)


def feature_file(folder: Path, group: str) -> Path:
    """Where the features of a source group lie."""
    safe = "".join(c if c.isalnum() or c in "-_" else f"%{ord(c):x}" for c in group)
    return folder / f"{safe}.safetensors"


def _agreed_spec(folder: Path, spec: FeatureSpec) -> FeatureSpec:
    """The spec of what lies in ``folder``, if it holds all that ``spec`` wants; ``spec`` for a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / "features.json"
    if not manifest.exists():
        _write(manifest, json.dumps(asdict(spec)).encode())
        return spec
    values: dict[str, Any] = json.loads(manifest.read_text())
    values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    stored = FeatureSpec(**values)
    covered = (
        stored.model == spec.model
        and stored.scores >= spec.scores
        and all(set(getattr(spec, name)) <= set(getattr(stored, name)) for name in ("deltas", "views", "residuals"))
    )
    if not covered:
        raise InvalidInputError(f"{folder} holds features of {stored}, not of {spec}; choose another folder")
    return stored


def _extract_group(
    group: str, members: Sequence[LabelledExample], model: CausalLM, folder: Path, spec: FeatureSpec
) -> int:
    from safetensors.numpy import save

    requests = [
        ScoreRequest(row.answer, [document.text for document in row.documents], row.question) for row in members
    ]
    scored = model.score(
        requests,
        logits=spec.scores,
        layers=sorted({*spec.deltas, *spec.views}),
        attention_layer=spec.residuals[0] if spec.residuals else None,
    )
    columns = [_features(answer, spec) for answer in scored]
    tensors = {name: np.ascontiguousarray(np.concatenate([column[name] for column in columns])) for name in columns[0]}
    lengths = [len(answer.tokens.ids) for answer in scored]
    tensors["lengths"] = np.asarray(lengths, dtype=np.int32)
    tensors["offsets"] = np.concatenate([answer.tokens.offsets for answer in scored]).astype(np.int32)
    metadata = {"ids": json.dumps([row.id for row in members])}
    _write(feature_file(folder, group), save(tensors, metadata))
    return sum(lengths)


def _features(answer: ScoredAnswer, spec: FeatureSpec) -> dict[str, NDArray[np.floating]]:
    """Training texts fit one window; should one not, its first window stands for it."""
    seen, bare = answer.with_documents[0], answer.without
    result: dict[str, NDArray[np.floating]] = {}
    for layer in spec.deltas:
        delta = seen.hidden[layer] - bare.hidden[layer]
        result[f"delta_{layer}"] = _half(delta)
        if layer in spec.residuals and seen.attention is not None:
            result[f"residual_{layer}"] = _half(residual(delta, seen.attention))
    for layer in spec.views:
        result[f"with_{layer}"] = _half(seen.hidden[layer])
    if spec.scores:
        views = (view for view in (seen, bare))
        result["scores"] = np.stack(
            [
                np.asarray(values, dtype=np.float32)
                for view in views
                for values in (view.log_probs, view.entropies, view.ranks)
            ],
            axis=1,
        )
    return result


def _half(values: NDArray[np.float32]) -> NDArray[np.float16]:
    return np.clip(values, -_HALF_MAX, _HALF_MAX).astype(np.float16)


def _write(path: Path, content: bytes) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    partial.write_bytes(content)
    os.replace(partial, path)
