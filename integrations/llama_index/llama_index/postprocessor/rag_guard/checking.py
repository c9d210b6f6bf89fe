"""One call of the core, made safe for places whose exceptions LlamaIndex would swallow."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from llama_index.core.schema import NodeWithScore
from llama_index.postprocessor.rag_guard.evidence import Sources, sources_of, with_node_ranges
from pydantic_core import to_jsonable_python

from rag_guard import Example, HallucinationError, InvalidInputError, MissingContextError, RagGuardError, Report, Status
from rag_guard import HallucinationGuard as CoreGuard
from rag_guard.policy import apply_failure

StreamMode = Literal["buffer", "sentence", "annotate"]
"""``buffer``: nothing leaves before the whole answer is checked. ``sentence``: each sentence leaves once it is checked.
``annotate``: tokens leave at once and unchanged, the report follows."""

logger = logging.getLogger("llama_index.postprocessor.rag_guard")

SETTINGS = ("policy", "on_error", "on_missing_context", "thresholds", "timeout", "block_message")


@dataclass(frozen=True)
class Checker:
    """The core guard with what this integration adds to it.

    ``raised`` collects the errors that policies ask for where they cannot be raised; without it they are logged.
    """

    core: CoreGuard
    stream_mode: StreamMode = "buffer"
    report_key: str = "rag_guard"
    include_documents: bool = False
    on_report: Callable[[Report], object] | None = None
    raised: list[RagGuardError] | None = None

    def check(
        self,
        answers: Sequence[str],
        sources: Sources | Sequence[NodeWithScore],
        question: str | None,
        *,
        strict: bool,
        warnings: Sequence[str] = (),
    ) -> list[Report]:
        """One report per answer, all in one detection.

        Args:
            sources: what to check against; nodes are read as the model saw them.
            strict: whether policies may raise; if not, what they would raise for is blocked instead.
            warnings: to add to each report.

        Raises:
            HallucinationError, DetectorError, MissingContextError, GuardTimeoutError: only if ``strict``.
        """
        try:
            found = sources if isinstance(sources, Sources) else sources_of(sources)
            examples = [Example(answer=answer, documents=found.documents, question=question) for answer in answers]
            outcomes = self.core.try_check_batch(examples)
        except Exception as error:
            logger.warning("the check failed", exc_info=error)
            outcomes = [self._failed(answer, question, error) for answer in answers]
        reports = [
            self._settled(outcome, answer, question, strict) for outcome, answer in zip(outcomes, answers, strict=True)
        ]
        if not warnings:
            return reports
        return [report.model_copy(update={"warnings": (*report.warnings, *warnings)}) for report in reports]

    async def acheck(
        self,
        answers: Sequence[str],
        sources: Sources | Sequence[NodeWithScore],
        question: str | None,
        *,
        strict: bool,
        warnings: Sequence[str] = (),
    ) -> list[Report]:
        """:meth:`check` in a worker thread; the event loop stays free."""
        return await asyncio.to_thread(self.check, answers, sources, question, strict=strict, warnings=warnings)

    def publish(self, report: Report) -> None:
        """Hand a report to ``on_report``."""
        if self.on_report is not None:
            try:
                self.on_report(report)
            except Exception:
                logger.exception("on_report failed")

    def record(self, report: Report, sources: Sources) -> dict[str, Any]:
        """A report as a plain dict, each piece of evidence with its node's id and its place in the node's text."""
        left_out = None if self.include_documents else {"documents": {"__all__": {"text", "metadata"}}}
        plain = to_jsonable_python(report, exclude=left_out, fallback=str)
        known = len(sources.documents) == len(report.documents)
        return cast("dict[str, Any]", with_node_ranges(plain, sources) if known else plain)

    def _failed(self, answer: str, question: str | None, error: Exception) -> Report | RagGuardError:
        text = f"{type(error).__name__}: {error}"
        report = Report(status=Status.ERROR, answer=answer, output=answer, question=question, error=text)
        try:
            return apply_failure(report, self.core.on_error, self.core.block_message, error)
        except RagGuardError as raised:
            return raised

    def _settled(self, outcome: Report | RagGuardError, answer: str, question: str | None, strict: bool) -> Report:
        if isinstance(outcome, Report):
            return outcome
        if strict:
            raise outcome
        if self.raised is not None:
            self.raised.append(outcome)
        else:
            logger.warning(
                "nothing can be raised from a node postprocessor, so the answer was blocked; "
                "wrap_query_engine() or watching() raise: %s",
                outcome,
            )
        blocked = {"action": "blocked", "output": self.core.block_message}
        if isinstance(outcome, HallucinationError):
            return outcome.report.model_copy(update=blocked)
        status = Status.NO_CONTEXT if isinstance(outcome, MissingContextError) else Status.ERROR
        report = Report(status=status, answer=answer, output=answer, question=question, error=str(outcome))
        return report.model_copy(update=blocked)


def core_guard(guard: Any, options: Mapping[str, Any]) -> CoreGuard:
    """A core guard from a core guard and what to change in it, from a preset's name, or from the core's arguments.

    Raises:
        InvalidInputError: ``guard`` is none of these.
    """
    if guard is None or isinstance(guard, str):
        return CoreGuard(guard, **options) if guard else CoreGuard(**options)
    if not isinstance(guard, CoreGuard):
        raise InvalidInputError(
            f"guard is {type(guard).__module__}.{type(guard).__qualname__}; pass a rag_guard.HallucinationGuard, "
            "the name of a preset, or its arguments by name"
        )
    changed = {name: value for name, value in options.items() if getattr(guard, name, None) != value}
    if not changed:
        return guard
    kept = {name: getattr(guard, name) for name in SETTINGS}
    if guard.policy == changed.get("policy", guard.policy) == "repair":
        kept["repair"] = guard.repair
    return CoreGuard(**{"detectors": guard.detectors, **kept, **changed})
