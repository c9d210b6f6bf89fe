"""Report, block and raise, per answer; failures of the guard itself; one detection for a whole batch."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough

from langchain_rag_guard import HallucinationGuard
from rag_guard import DetectorError, HallucinationError, InvalidInputError, MissingContextError
from rag_guard import HallucinationGuard as CoreGuard


class Slow:
    """The real detector with a pause, and a count of its calls."""

    def __init__(self, seconds: float = 0.0, error: Exception | None = None) -> None:
        (self._detector,) = CoreGuard("fast").detectors
        self.name, self.version = self._detector.name, self._detector.version
        self.threshold = self._detector.threshold
        self.seconds, self.error = seconds, error
        self.batches: list[int] = []

    def detect(self, analyses: Sequence[Any]) -> list[Any]:
        self.batches.append(len(analyses))
        time.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        return self._detector.detect(analyses)


def test_raise_carries_the_report_and_still_reports(kit: Any, attach: Any) -> None:
    with pytest.raises(HallucinationError) as caught:
        attach(kit.text_chain(), kit.guard(policy="raise")).invoke("q1")

    assert caught.value.report.answer == "Ticket q1 costs 999 euros."
    assert [report.action for report in kit.reports] == ["raised"]


async def test_raise_in_every_way_to_run(kit: Any, attach: Any) -> None:
    chain = attach(kit.text_chain(), kit.guard(policy="raise"))

    with pytest.raises(HallucinationError):
        await chain.ainvoke("q1")
    with pytest.raises(HallucinationError):
        chain.batch(["q2", "q3"])
    with pytest.raises(HallucinationError):
        await chain.abatch(["q4", "q5"])
    with pytest.raises(HallucinationError):
        [chunk async for chunk in chain.astream("q6")]


async def test_batch_gives_each_answer_its_own_output_or_error(kit: Any, attach: Any) -> None:
    model = {True: kit.Model(lie=True), False: kit.Model(lie=False)}
    chain = {"context": kit.Retriever() | kit.joined, "question": RunnablePassthrough()} | kit.PROMPT
    answer = RunnableLambda(lambda prompt: model["bad" in prompt.to_string().split()[-1]])
    guarded = attach(chain | answer | (lambda message: message.content), kit.guard(policy="raise"))
    queries = ["good1", "bad1", "good2"]

    for results in (
        guarded.batch(queries, return_exceptions=True),
        await guarded.abatch(queries, return_exceptions=True),
    ):
        assert [results[0], results[2]] == [kit.text_about("good1"), kit.text_about("good2")]
        assert isinstance(results[1], HallucinationError)


async def test_batch_is_one_detection(kit: Any, attach: Any) -> None:
    detector = Slow()
    chain = attach(kit.text_chain(), HallucinationGuard(detectors=[detector], on_report=kit.reports.append))
    queries = [f"q{number}" for number in range(12)]

    outputs = chain.batch(queries)

    assert outputs == [f"Ticket {query} costs 999 euros." for query in queries]
    assert detector.batches == [12]
    kit.assert_own_documents(queries)
    assert await chain.abatch(queries) == outputs
    assert detector.batches == [12, 12]


def test_failing_chain_does_not_cost_the_rest_of_a_batch(kit: Any, attach: Any) -> None:
    def fail_on_two(query: str) -> str:
        if query == "q2":
            raise ValueError("no such ticket")
        return query

    chain = attach(RunnableLambda(fail_on_two) | kit.text_chain(), kit.guard())

    results = chain.batch(["q1", "q2", "q3"], return_exceptions=True)

    assert isinstance(results[1], ValueError)
    kit.assert_own_documents(["q1", "q3"])
    with pytest.raises(ValueError, match="no such ticket"):
        chain.batch(["q1", "q2"])


async def test_detection_leaves_the_event_loop_free(kit: Any, attach: Any) -> None:
    chain = attach(kit.text_chain(), HallucinationGuard(detectors=[Slow(seconds=0.5)]))
    longest = 0.0

    async def heartbeat() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.01)
            longest = max(longest, time.perf_counter() - before)

    beating = asyncio.create_task(heartbeat())
    await asyncio.gather(
        chain.ainvoke("q1"), chain.abatch(["q2", "q3"]), *[_drained(chain, f"q{number}") for number in (4, 5)]
    )
    beating.cancel()

    assert longest < 0.4


async def _drained(chain: Any, query: str) -> None:
    async for _ in chain.astream(query):
        pass


def test_failing_detector_passes_the_answer_with_an_error_status(kit: Any, attach: Any) -> None:
    broken = Slow(error=RuntimeError("out of memory"))

    passed = attach(kit.message_chain(), HallucinationGuard(detectors=[broken])).invoke("q1")

    assert passed.content == "Ticket q1 costs 999 euros."
    assert passed.response_metadata["rag_guard"]["status"] == "error"
    with pytest.raises(DetectorError, match="out of memory"):
        attach(kit.message_chain(), HallucinationGuard(detectors=[broken], on_error="raise")).invoke("q1")


def test_missing_context_is_no_verdict_and_can_be_an_error(kit: Any, attach: Any) -> None:
    def answer(query: str) -> str:
        return f"Ticket {query} costs 999 euros."

    assert attach(RunnableLambda(answer), kit.guard(policy="block")).invoke("q1") == answer("q1")
    assert [report.status.value for report in kit.reports] == ["no_context"]
    with pytest.raises(MissingContextError):
        attach(RunnableLambda(answer), kit.guard(on_missing_context="raise")).invoke("q1")


def test_retry_asks_the_model_again_until_the_answer_is_supported(kit: Any) -> None:
    calls = []

    def improving(prompt: Any) -> str:
        calls.append(prompt)
        return kit.text_about("q1") if len(calls) == 3 else "Ticket q1 costs 999 euros."

    chain = {"context": kit.Retriever() | kit.joined, "question": RunnablePassthrough()} | kit.PROMPT | improving
    retried = (chain | kit.guard(policy="raise")).with_retry(
        retry_if_exception_type=(HallucinationError,), stop_after_attempt=5, wait_exponential_jitter=False
    )

    assert retried.invoke("q1") == kit.text_about("q1")
    assert len(calls) == 3


def test_fallback_answers_in_place_of_a_hallucination_also_in_a_stream(kit: Any, attach: Any) -> None:
    chain = attach(kit.text_chain(), kit.guard(policy="raise")).with_fallbacks(
        [RunnableLambda(lambda query: "I do not know.")], exceptions_to_handle=(HallucinationError,)
    )

    assert chain.invoke("q1") == "I do not know."
    assert list(chain.stream("q1")) == ["I do not know."]


def test_policy_and_threshold_can_change_for_one_call(kit: Any) -> None:
    guard = kit.guard().configurable_fields(
        policy=ConfigurableField(id="policy"), thresholds=ConfigurableField(id="thresholds")
    )
    chain = kit.text_chain() | guard

    assert chain.invoke("q1") == "Ticket q1 costs 999 euros."
    with pytest.raises(HallucinationError):
        chain.invoke("q1", {"configurable": {"policy": "raise"}})
    chain.invoke("q1", {"configurable": {"thresholds": {"span": 1.0}}})
    assert kit.reports[-1].thresholds == {"span": 1.0}
    assert kit.reports[0].thresholds != {"span": 1.0}


def test_guard_takes_a_core_guard_a_preset_or_the_core_arguments() -> None:
    core = CoreGuard("fast", policy="block", block_message="No.")

    assert HallucinationGuard(core).guard is core
    assert HallucinationGuard("fast", policy="raise").guard.policy == "raise"
    changed = HallucinationGuard(core, policy="report").guard
    assert (changed.policy, changed.block_message, changed.detectors) == ("report", "No.", core.detectors)
    assert core.policy == "block"
    with pytest.raises(InvalidInputError, match="pass a rag_guard"):
        HallucinationGuard(object())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="polciy"):
        HallucinationGuard(polciy="raise")
