"""The guard as an evaluator: for batch evaluation, for ``RetryQueryEngine`` and for tools that rate answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.postprocessor.rag_guard.base import HallucinationGuard, as_guard
from llama_index.postprocessor.rag_guard.checking import Checker, core_guard
from llama_index.postprocessor.rag_guard.evidence import Sources, sources_of
from llama_index.postprocessor.rag_guard.tools import verdict_text

from rag_guard import Document, InvalidInputError
from rag_guard import HallucinationGuard as CoreGuard


class GuardEvaluator(BaseEvaluator):
    """Passes supported answers; ``score`` is 1 minus the report's, and ``feedback`` names what is unsupported.

    Answers without a verdict (no contexts, an abstention, nothing to check, a failed check) are invalid results with
    the reason. Policies do not apply. ``evaluate_response`` reads source nodes as the model saw them.

    Args:
        guard: a guard of this package or of the core, the name of a preset, or None for the default preset.
        **options: arguments of :class:`HallucinationGuard`, such as ``on_report``.
    """

    def __init__(self, guard: HallucinationGuard | CoreGuard | str | None = None, **options: Any) -> None:
        owner = as_guard(guard, options)
        reporting = {"policy": "report", "on_error": "pass", "on_missing_context": "pass"}
        self._checker = Checker(core_guard(owner.guard, reporting), on_report=owner.on_report)

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """There are none."""

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        sleep_time_in_seconds: int = 0,
        **kwargs: Any,
    ) -> EvaluationResult:
        """Evaluate an answer against the texts it was made from.

        Raises:
            InvalidInputError: ``response`` or ``contexts`` is None.
        """
        if response is None or contexts is None:
            raise InvalidInputError("response and contexts must be given; pass contexts=[] if nothing was retrieved")
        if sleep_time_in_seconds:
            await asyncio.sleep(sleep_time_in_seconds)
        documents = tuple(Document(text=text) for text in contexts)
        return await self._evaluate(query, response, Sources(documents, (None,) * len(documents)))

    def evaluate_response(
        self, query: str | None = None, response: Response | None = None, **kwargs: Any
    ) -> EvaluationResult:
        """Evaluate a response against its source nodes."""
        answer, sources = _parts(response)
        return self._result(query, answer, sources, self._checker.check([answer], sources, query, strict=False)[0])

    async def aevaluate_response(
        self, query: str | None = None, response: Response | None = None, **kwargs: Any
    ) -> EvaluationResult:
        """Evaluate a response against its source nodes."""
        return await self._evaluate(query, *_parts(response))

    async def _evaluate(self, query: str | None, answer: str, sources: Sources) -> EvaluationResult:
        (report,) = await self._checker.acheck([answer], sources, query, strict=False)
        return self._result(query, answer, sources, report)

    def _result(self, query: str | None, answer: str, sources: Sources, report: Any) -> EvaluationResult:
        self._checker.publish(report)
        result = EvaluationResult(
            query=query, response=answer, contexts=[document.text for document in sources.documents]
        )
        if not report.status.is_verdict:
            result.invalid_result = True
            result.invalid_reason = report.error or report.status.value
            return result
        result.passing = not report.spans
        result.score = 1.0 - (report.score or 0.0)
        result.feedback = verdict_text(report)
        return result


def _parts(response: Response | None) -> tuple[str, Sources]:
    if response is None:
        raise InvalidInputError("response must be given")
    return str(response), sources_of(response.source_nodes)
