"""The guard as an evaluator."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.postprocessor.rag_guard import GuardEvaluator

from rag_guard import InvalidInputError


def test_a_response_against_what_the_model_saw(kit: Any) -> None:
    evaluator = GuardEvaluator("fast", on_report=kit.reports.append)

    bad = evaluator.evaluate_response("q1", kit.engine().query("q1"))
    good = evaluator.evaluate_response("q2", kit.engine(honest=True).query("q2"))

    assert (bad.passing, good.passing) == (False, True)
    assert bad.score is not None
    assert good.score is not None
    assert 0.0 <= bad.score < good.score <= 1.0
    assert '"999" is contradicted' in (bad.feedback or "")
    assert bad.contexts == [f"shop: Museum\n\n{kit.truth('q1')}"]
    kit.assert_own_documents(["q1", "q2"])


async def test_texts(kit: Any) -> None:
    evaluator = GuardEvaluator(kit.guard(policy="raise"))

    assert (await evaluator.aevaluate("q", kit.truth("q1"), [kit.truth("q1")])).passing is True
    assert (await evaluator.aevaluate("q", kit.lie("q1"), [kit.truth("q1")])).passing is False
    nothing = await evaluator.aevaluate("q", kit.lie("q1"), [])
    assert (nothing.invalid_result, nothing.invalid_reason) == (True, "no_context")
    with pytest.raises(InvalidInputError):
        await evaluator.aevaluate("q", kit.lie("q1"))
    with pytest.raises(InvalidInputError):
        evaluator.evaluate_response("q")


def test_a_failed_check_is_invalid(kit: Any) -> None:
    evaluator = GuardEvaluator(kit.guard(detectors=[kit.Detector(error=RuntimeError("boom"))], on_error="raise"))

    result = evaluator.evaluate(query="q", response=kit.lie("q1"), contexts=[kit.truth("q1")])

    assert result.passing is None
    assert "boom" in (result.invalid_reason or "")


async def test_batch_runner(kit: Any) -> None:
    runner = BatchEvalRunner({"guard": GuardEvaluator("fast")}, workers=4)

    results = await runner.aevaluate_queries(kit.engine(), queries=["q1", "q2", "q3"])

    assert [result.passing for result in results["guard"]] == [False] * 3
