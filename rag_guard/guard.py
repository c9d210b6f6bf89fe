"""The engine: question, documents and answer in, one report out.

preflight -> detectors -> combine -> decode -> claims and citations -> repair -> policy; each stage knows only the one
before it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, get_args

from rag_guard.decoding.verdict import Judgement, judge
from rag_guard.detectors.base import Detection, Detector
from rag_guard.documents import as_documents
from rag_guard.errors import DetectorError, GuardTimeoutError, InvalidInputError, RagGuardError
from rag_guard.policy import (
    BLOCK_MESSAGE,
    OnError,
    OnMissingContext,
    Policy,
    apply_failure,
    apply_policy,
    logger,
)
from rag_guard.preflight import Preflight, preflight
from rag_guard.presets import DEFAULT_PRESET, detectors_of
from rag_guard.repair import Repair, Strategy
from rag_guard.schema import DetectorRun, Document, Example, Report, Status
from rag_guard.text.analysis import Analysis
from rag_guard.text.corpus_cache import corpus_for


class HallucinationGuard:
    """Checks answers against the documents they were made from.

    One guard serves many threads and tasks at once: it keeps no state of a request.

    Args:
        preset: ``"fast"`` or ``"balanced"`` (default); not together with ``detectors``.
        detectors: the detectors to run instead of a preset's.
        policy: for hallucinated answers: ``"report"`` them, ``"repair"`` them (``report.output`` is the repaired
            answer), ``"block"`` them (it is the block message) or ``"raise"`` :class:`~rag_guard.HallucinationError`.
        repair: for ``policy="repair"``: ``"extract"`` (default), ``"remove"``, ``"rewrite"``, or a
            :class:`~rag_guard.repair.Repair` with more settings.
        on_error: when the check itself fails: ``"pass"`` the answer on (the report has status ``error`` and a warning
            is logged), ``"warn"``, ``"block"`` or ``"raise"``.
        on_missing_context: the same four choices for answers without any document.
        thresholds: ``{"span": t}``, the risk in (0, 1] from which a word is flagged; default 0.5.
        timeout: seconds for one call; past it every answer of the call gets status ``error`` and ``on_error`` decides.
        block_message: what ``report.output`` says in place of a blocked answer.

    Raises:
        InvalidInputError: an argument has a value that cannot be used.
    """

    def __init__(
        self,
        preset: str | None = None,
        *,
        detectors: Sequence[Detector] | None = None,
        policy: Policy = "report",
        repair: Repair | Strategy | None = None,
        on_error: OnError = "pass",
        on_missing_context: OnMissingContext = "pass",
        thresholds: Mapping[str, float] | float | None = None,
        timeout: float | None = None,
        block_message: str = BLOCK_MESSAGE,
    ) -> None:
        if preset is not None and detectors is not None:
            raise InvalidInputError("preset and detectors exclude each other; pass one of them")
        self.detectors: tuple[Detector, ...] = tuple(
            detectors_of(preset or DEFAULT_PRESET) if detectors is None else detectors
        )
        if not self.detectors:
            raise InvalidInputError("detectors is empty; pass at least one, or none at all for the default preset")
        self.preset = None if detectors is not None else preset or DEFAULT_PRESET
        self.policy = _one_of("policy", policy, Policy)
        if repair is not None and policy != "repair":
            raise InvalidInputError(f"repair is given, but policy={policy!r}; pass policy='repair' with it")
        self.repair = repair if isinstance(repair, Repair) else Repair(repair or "extract")
        self.on_error = _one_of("on_error", on_error, OnError)
        self.on_missing_context = _one_of("on_missing_context", on_missing_context, OnMissingContext)
        self.thresholds = _thresholds(thresholds)
        if timeout is not None and not timeout > 0:
            raise InvalidInputError(f"timeout={timeout!r} must be a positive number of seconds, or None")
        self.timeout = timeout
        self.block_message = block_message

    def check(self, answer: str, documents: Any = (), question: str | None = None, *, id: str | None = None) -> Report:
        """Check one answer; see :meth:`check_batch`."""
        return self.check_batch([Example(answer=answer, documents=documents, question=question, id=id)])[0]

    async def acheck(
        self, answer: str, documents: Any = (), question: str | None = None, *, id: str | None = None
    ) -> Report:
        """:meth:`check` in a worker thread; the event loop stays free."""
        return await asyncio.to_thread(self.check, answer, documents, question, id=id)

    async def acheck_batch(self, examples: Sequence[Example]) -> list[Report]:
        """:meth:`check_batch` in a worker thread; the event loop stays free."""
        return await asyncio.to_thread(self.check_batch, examples)

    def check_batch(self, examples: Sequence[Example]) -> list[Report]:
        """One report per example, in order; every detector sees the whole batch at once.

        Raises:
            UnsupportedDocumentError: a document is of a type that holds no text (a ``TypeError``).
            HallucinationError: ``policy="raise"`` and an answer is hallucinated (the first in order).
            DetectorError, GuardTimeoutError, MissingContextError: only under ``"raise"`` for ``on_error`` or
                ``on_missing_context``.
        """
        outcomes = self.try_check_batch(examples)
        for outcome in outcomes:
            if isinstance(outcome, RagGuardError):
                raise outcome
        return [outcome for outcome in outcomes if isinstance(outcome, Report)]

    def try_check_batch(self, examples: Sequence[Example]) -> list[Report | RagGuardError]:
        """:meth:`check_batch` for callers that serve many requests: no answer's error costs the others.

        An answer for which a policy says ``"raise"`` gets its error in place of a report.

        Raises:
            UnsupportedDocumentError: a document is of a type that holds no text (a ``TypeError``).
        """
        examples = [_checked(example, position) for position, example in enumerate(examples)]
        started = time.perf_counter()
        try:
            reports = self._within_timeout(examples)
        except Exception as error:
            # A guard that breaks must not break the app: the policy decides, the report says so.
            logger.warning("the check failed", exc_info=error)
            text = f"{type(error).__name__}: {error}"
            bare = [self._bare(example, Status.ERROR, error=text) for example in examples]
            return [_settle(apply_failure, report, self.on_error, self.block_message, error) for report in bare]
        total = (time.perf_counter() - started) * 1000
        return [_settle(self._finish, report, total / max(len(reports), 1)) for report in reports]

    def _within_timeout(self, examples: list[Example]) -> list[Report]:
        if self.timeout is None:
            return self._check_each_if_needed(examples)
        executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rag_guard-timeout")
        try:
            return executor.submit(self._check_each_if_needed, examples).result(self.timeout)
        except FutureTimeoutError as error:
            raise GuardTimeoutError(f"the check did not finish within timeout={self.timeout} s") from error
        finally:
            executor.shutdown(wait=False, cancel_futures=True)

    def _check_each_if_needed(self, examples: list[Example]) -> list[Report]:
        """All at once, or one by one where that fails: an example that breaks the check costs only itself."""
        try:
            return self._check_and_repair(examples)
        except Exception:
            if len(examples) == 1:
                raise
            logger.warning("the check of a batch failed; its examples are checked one by one", exc_info=True)
        return [self._check_alone(example) for example in examples]

    def _check_alone(self, example: Example) -> Report:
        try:
            return self._check_and_repair([example])[0]
        except Exception as error:
            return self._bare(example, Status.ERROR, error=f"{type(error).__name__}: {error}")

    def _check_and_repair(self, examples: list[Example]) -> list[Report]:
        reports = self._run(examples)
        if self.policy != "repair":
            return reports
        try:
            return self.repair(reports, self._run)
        except Exception as error:
            logger.warning("the repair failed", exc_info=error)
            failed = f"the repair failed: {type(error).__name__}: {error}"
            return [report.model_copy(update={"warnings": (*report.warnings, failed)}) for report in reports]

    def _run(self, examples: list[Example]) -> list[Report]:
        timings: dict[str, float] = {}
        with _timed(timings, "preflight"):
            analyses = [_analyse(example) for example in examples]
            flights = [preflight(analysis) for analysis in analyses]
        checked = [i for i, flight in enumerate(flights) if flight.status is None]
        runs, detections = self._detect([analyses[i] for i in checked], timings)
        reports: list[Report] = [
            self._bare(example, flight.status or Status.ERROR, flight=flight, analysis=analysis)
            for example, flight, analysis in zip(examples, flights, analyses, strict=True)
        ]
        with _timed(timings, "decode"):
            for row, i in enumerate(checked):
                judgement = judge(
                    analyses[i],
                    {name: batch[row] for name, batch in detections.items()},
                    threshold=self.thresholds["span"],
                    abstentions=flights[i].abstentions,
                    false_abstention=flights[i].false_abstention,
                )
                reports[i] = self._report(reports[i], judgement, runs, analyses[i])
        share = {stage: milliseconds / len(examples) for stage, milliseconds in timings.items()}
        return [report.model_copy(update={"timings_ms": share}) for report in reports]

    def _detect(
        self, analyses: list[Analysis], timings: dict[str, float]
    ) -> tuple[list[DetectorRun], dict[str, list[Detection]]]:
        runs: list[DetectorRun] = []
        detections: dict[str, list[Detection]] = {}
        failure: Exception | None = None
        for detector in self.detectors if analyses else ():
            error: Exception | None = None
            try:
                with _timed(timings, detector.name):
                    detections[detector.name] = detector.detect(analyses)
            except Exception as raised:
                error = failure = raised
                logger.warning("detector %s failed", detector.name, exc_info=raised)
            runs.append(
                DetectorRun(
                    name=detector.name,
                    version=detector.version,
                    threshold=detector.threshold,
                    status="ok" if error is None else "failed",
                    error=None if error is None else f"{type(error).__name__}: {error}",
                )
            )
        if analyses and not detections:
            names = ", ".join(run.name for run in runs)
            raise DetectorError(f"every detector failed ({names}): {runs[-1].error}") from failure
        return runs, detections

    def _bare(
        self,
        example: Example,
        status: Status,
        *,
        flight: Preflight | None = None,
        analysis: Analysis | None = None,
        error: str | None = None,
    ) -> Report:
        """A report without a verdict."""
        return Report(
            id=example.id,
            status=status,
            answer=example.answer,
            output=example.answer,
            question=example.question,
            documents=example.documents,
            language=analysis.language if analysis and flight and flight.status is None else None,
            thresholds=self.thresholds,
            warnings=flight.warnings if flight else (),
            error=error,
        )

    def _report(self, bare: Report, judgement: Judgement, runs: list[DetectorRun], analysis: Analysis) -> Report:
        failed = [f"detector {run.name} failed: {run.error}" for run in runs if run.status == "failed"]
        return bare.model_copy(
            update={
                "status": Status.HALLUCINATED if judgement.spans else Status.SUPPORTED,
                "score": judgement.score,
                "spans": tuple(judgement.spans),
                "claims": tuple(judgement.claims),
                "entities": tuple(judgement.entities),
                "citations": tuple(judgement.citations),
                "detectors": tuple(run.model_copy(update={"score": judgement.scores.get(run.name)}) for run in runs),
                "warnings": (*bare.warnings, *judgement.warnings, *failed),
            }
        )

    def _finish(self, report: Report, total_ms: float) -> Report:
        report = report.model_copy(update={"timings_ms": {**report.timings_ms, "total": total_ms}})
        if report.status is Status.NO_CONTEXT:
            return apply_failure(report, self.on_missing_context, self.block_message)
        if report.status is Status.ERROR:
            return apply_failure(report, self.on_error, self.block_message)
        return apply_policy(report, self.policy, self.block_message)


class _timed:
    """Adds the milliseconds of its block to ``timings[stage]``."""

    def __init__(self, timings: dict[str, float], stage: str) -> None:
        self._timings, self._stage = timings, stage

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        elapsed = (time.perf_counter() - self._started) * 1000
        self._timings[self._stage] = self._timings.get(self._stage, 0.0) + elapsed


def _analyse(example: Example) -> Analysis:
    documents: tuple[Document, ...] = example.documents
    question = example.question if example.question and example.question.strip() else None
    return Analysis(example.answer, documents, question, corpus_for(documents))


def _settle(step: Callable[..., Report], *args: Any) -> Report | RagGuardError:
    try:
        return step(*args)
    except RagGuardError as error:
        return error


def _checked(example: Example, position: int) -> Example:
    if not isinstance(example, Example):
        raise InvalidInputError(
            f"examples[{position}] is {type(example).__qualname__}; pass rag_guard.Example(answer=..., documents=...)"
        )
    return example.model_copy(update={"documents": as_documents(example.documents)})


def _one_of(name: str, value: Any, choices: Any) -> Any:
    if value not in get_args(choices):
        raise InvalidInputError(f"{name}={value!r} is not known; choose one of {', '.join(get_args(choices))}")
    return value


def _thresholds(thresholds: Mapping[str, float] | float | None) -> dict[str, float]:
    given = {"span": thresholds} if isinstance(thresholds, (int, float)) else dict(thresholds or {})
    unknown = set(given) - {"span"}
    if unknown:
        raise InvalidInputError(f"thresholds has unknown keys {sorted(unknown)}; the only key is 'span'")
    value = float(given.get("span", 0.5))
    if not 0.0 < value <= 1.0:
        raise InvalidInputError(f"thresholds['span']={value!r} must be in (0, 1]")
    return {"span": value}
