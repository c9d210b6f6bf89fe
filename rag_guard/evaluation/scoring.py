"""Run a guard over labelled answers: in batches that share documents, resumable, on one or more processes."""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_guard import HallucinationGuard, InvalidInputError
from rag_guard.decoding.verdict import Judgement
from rag_guard.detectors.base import Detector
from rag_guard.evaluation.environment import code_digest
from rag_guard.evaluation.rows import LabelledExample
from rag_guard.schema import DetectorRun, Report, Status
from rag_guard.text.analysis import Analysis
from rag_guard.text.words import find_words

BATCH_SIZE = 24
_RISK_DECIMALS = 6


@dataclass(frozen=True)
class GuardConfig:
    """Which guard to run; it travels to worker processes, which a guard itself cannot.

    Attributes:
        preset: a preset's name, or None.
        detector: the name of a detector that a preset has, or ``module:Class`` of one's own, or None.
        threshold: the risk from which a word is flagged, or None for the guard's default.
    """

    preset: str | None = None
    detector: str | None = None
    threshold: float | None = None

    def build(self) -> HallucinationGuard:
        """A new guard.

        Raises:
            InvalidInputError: preset and detector exclude each other, or one of them is not known.
        """
        if self.preset is not None and self.detector is not None:
            raise InvalidInputError("preset and detector exclude each other; pass one of them")
        if self.detector is None:
            return HallucinationGuard(self.preset, thresholds=self.threshold)
        return HallucinationGuard(detectors=[_detector(self.detector)], thresholds=self.threshold)


def _detector(name: str) -> Detector:
    from rag_guard.presets import PRESETS

    module, _, attribute = name.partition(":")
    if attribute:
        try:
            made: Detector = getattr(importlib.import_module(module), attribute)()
        except (ImportError, AttributeError) as error:
            raise InvalidInputError(f"detector={name!r} cannot be imported: {error}") from error
        return made
    known = {detector.name: detector for make in PRESETS.values() for detector in make()}
    if name not in known:
        choices = ", ".join([*known, "module:Class"])
        raise InvalidInputError(f"detector={name!r} is not known; choose one of {choices}")
    return known[name]


@dataclass(frozen=True)
class Scored:
    """What a guard said of one row.

    Attributes:
        status: the report's status.
        score: the answer's risk in [0, 1], 0 where the report has none.
        spans: (start, end) of every reported span.
        risks: one per word of the answer, as :func:`rag_guard.text.words.find_words` finds them; 0 where no
            detector judged it.
        error: the report's error, if any.
    """

    status: str
    score: float
    spans: tuple[tuple[int, int], ...]
    risks: tuple[float, ...]
    error: str | None = None


class _RecordingGuard(HallucinationGuard):
    """A guard that remembers every word's risk: reports keep only what was flagged."""

    def __init__(self, guard: HallucinationGuard) -> None:
        super().__init__(detectors=guard.detectors, thresholds=guard.thresholds)
        self.risks: dict[str | None, NDArray[np.float64]] = {}

    def _report(self, bare: Report, judgement: Judgement, runs: list[DetectorRun], analysis: Analysis) -> Report:
        self.risks[bare.id] = judgement.risks
        return super()._report(bare, judgement, runs, analysis)


class Scorer:
    """Checks batches of rows and keeps every word's risk beside what the report says.

    Attributes:
        preset: the name of the guard's preset, or None.
        threshold: the risk from which a word is flagged.
    """

    def __init__(self, config: GuardConfig) -> None:
        guard = config.build()
        self.preset = guard.preset
        self.threshold = guard.thresholds["span"]
        self._guard = _RecordingGuard(guard)

    @property
    def detectors(self) -> list[dict[str, str | float]]:
        """Name, version and own threshold of every detector."""
        return [
            {"name": detector.name, "version": detector.version, "threshold": detector.threshold}
            for detector in self._guard.detectors
        ]

    def score(self, rows: Sequence[LabelledExample]) -> list[Scored]:
        """One result per row, in order."""
        self._guard.risks.clear()
        reports = self._guard.check_batch([row.example for row in rows])
        if len(rows) > 1 and any(report.status is Status.ERROR for report in reports):
            # A failing answer fails its whole batch; alone it fails alone.
            return [result for row in rows for result in self.score([row])]
        return [self._scored(row, report) for row, report in zip(rows, reports, strict=True)]

    def _scored(self, row: LabelledExample, report: Report) -> Scored:
        risks = self._guard.risks.get(row.id)
        if risks is None:
            risks = np.zeros(len(find_words(row.answer)))
        return Scored(
            status=report.status.value,
            score=round(report.score or 0.0, _RISK_DECIMALS),
            spans=tuple((span.start, span.end) for span in report.spans),
            risks=tuple(risks.round(_RISK_DECIMALS).tolist()),
            error=report.error,
        )

    def latencies(self, rows: Sequence[LabelledExample]) -> list[float]:
        """Milliseconds of one check per row, one answer at a time, after what loads lazily was loaded."""
        for row in rows[:3]:
            self._guard.check_batch([row.example.model_copy(update={"documents": ["The hall seats 600."]})])
        milliseconds = []
        for row in rows:
            started = time.perf_counter()
            self._guard.check_batch([row.example])
            milliseconds.append((time.perf_counter() - started) * 1000)
        return milliseconds


class ScoreCache:
    """Results on disk, one JSON line per row, so that an interrupted run goes on where it stopped.

    A row is known by its texts, and a file by the data set, the guard's configuration and the code that
    decides: neither a changed row nor a changed detector ever meets an old result.
    """

    def __init__(self, folder: Path, dataset: str, scorer: Scorer, *, fresh: bool = False) -> None:
        identity = json.dumps([dataset, scorer.preset, scorer.threshold, scorer.detectors, code_digest()])
        stem = "".join(char if char.isalnum() else "-" for char in Path(dataset).name)
        self.path = folder / f"{stem}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.jsonl"
        self._known: dict[str, Scored] = {}
        if fresh:
            self.path.unlink(missing_ok=True)
        elif self.path.is_file():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                self._read(line)

    def _read(self, line: str) -> None:
        try:
            values = json.loads(line)
            key = values.pop("key")
            values.pop("id")
            spans = tuple((start, end) for start, end in values.pop("spans"))
            self._known[key] = Scored(spans=spans, risks=tuple(values.pop("risks")), **values)
        except (ValueError, KeyError, TypeError):
            # The line that an interrupted run left half-written; its row is scored again.
            return

    def get(self, row: LabelledExample) -> Scored | None:
        """The result of ``row``, if it was scored before."""
        return self._known.get(_row_key(row))

    def add(self, rows: Sequence[LabelledExample], results: Sequence[Scored]) -> None:
        """Keep the results of a batch, on disk at once; failed checks are left out and so run again."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            for row, result in zip(rows, results, strict=True):
                if result.error is None:
                    line = json.dumps({"key": _row_key(row), "id": row.id, **asdict(result)})
                    # The line break comes first: the last line may be one that an interruption cut off.
                    stream.write(f"\n{line}")


def _row_key(row: LabelledExample) -> str:
    texts = [row.question, row.answer, *(document.text for document in row.documents)]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:24]


def batches(rows: Iterable[LabelledExample], size: int = BATCH_SIZE) -> Iterator[list[LabelledExample]]:
    """Batches of at most ``size`` rows; answers to one source stay together, to share its analysis."""
    groups: dict[str, list[LabelledExample]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    batch: list[LabelledExample] = []
    for group in groups.values():
        if batch and len(batch) + len(group) > size:
            yield batch
            batch = []
        for row in group:
            if len(batch) == size:
                yield batch
                batch = []
            batch.append(row)
    if batch:
        yield batch


def score_rows(
    rows: Sequence[LabelledExample],
    config: GuardConfig,
    scorer: Scorer,
    cache: ScoreCache,
    *,
    processes: int = 1,
    batch_size: int = BATCH_SIZE,
    advance: Callable[[int], None] = lambda rows: None,
) -> tuple[list[Scored], float]:
    """Results of all ``rows``, in order, and the milliseconds per row that those not found in the cache took.

    Args:
        config: builds the guards of worker processes; ``scorer`` was built from it and serves
        ``processes=1``. advance: called with the number of rows done, as they are done.
    """
    known = {row.id: result for row in rows if (result := cache.get(row)) is not None}
    advance(len(known))
    todo = list(batches((row for row in rows if row.id not in known), batch_size))
    started = time.perf_counter()
    for batch, results in _run(todo, config, scorer, min(processes, len(todo))):
        cache.add(batch, results)
        known.update((row.id, result) for row, result in zip(batch, results, strict=True))
        advance(len(batch))
    elapsed = (time.perf_counter() - started) * 1000
    return [known[row.id] for row in rows], elapsed / max(1, sum(map(len, todo)))


def _run(
    todo: Sequence[list[LabelledExample]], config: GuardConfig, scorer: Scorer, processes: int
) -> Iterator[tuple[list[LabelledExample], list[Scored]]]:
    if processes <= 1:
        for batch in todo:
            yield batch, scorer.score(batch)
        return
    # Threads of numerical libraries in every process would fight for the same cores.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // processes)))
    with ProcessPoolExecutor(
        processes, mp_context=multiprocessing.get_context("spawn"), initializer=_start, initargs=(config,)
    ) as executor:
        futures = {executor.submit(_score_in_worker, batch): batch for batch in todo}
        for future in as_completed(futures):
            yield futures[future], future.result()


_worker: list[Scorer] = []


@contextmanager
def quiet_failures() -> Iterator[None]:
    """Keep the guard from logging a traceback for every failed check; their errors are in the results."""
    logger = logging.getLogger("rag_guard")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _start(config: GuardConfig) -> None:
    logging.getLogger("rag_guard").setLevel(logging.CRITICAL)
    _worker[:] = [Scorer(config)]


def _score_in_worker(batch: list[LabelledExample]) -> list[Scored]:
    return _worker[0].score(batch)
