"""The wrapper: its errors reach the caller, and it goes around engines of every kind."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.base.response.schema import PydanticResponse, Response
from llama_index.core.query_engine import CustomQueryEngine, RetryQueryEngine, RouterQueryEngine, SubQuestionQueryEngine
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import QueryBundle
from llama_index.core.tools import QueryEngineTool
from llama_index.postprocessor.rag_guard import GuardedQueryEngine, GuardEvaluator, HallucinationGuard
from pydantic import BaseModel

from rag_guard import DetectorError, HallucinationError, MissingContextError


class First(BaseSelector):
    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None: ...

    def _select(self, choices: Any, query: Any) -> SelectorResult:
        return SelectorResult(selections=[SingleSelection(index=0, reason="the only one")])

    async def _aselect(self, choices: Any, query: Any) -> SelectorResult:
        return self._select(choices, query)


class TwoQuestions(BaseQuestionGenerator):
    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None: ...

    def generate(self, tools: Any, query: Any) -> list[SubQuestion]:
        return [SubQuestion(sub_question=name, tool_name="kb") for name in ("q1", "q9")]

    async def agenerate(self, tools: Any, query: Any) -> list[SubQuestion]:
        return self.generate(tools, query)


def tool(engine: Any) -> QueryEngineTool:
    return QueryEngineTool.from_defaults(engine, name="kb", description="tickets")


async def test_checks_every_way_to_ask(kit: Any) -> None:
    guard = kit.guard()
    engine, streaming = (guard.wrap_query_engine(kit.engine(streaming=streams)) for streams in (False, True))

    response = engine.query("q1")
    assert (response.response, response.metadata["rag_guard"]["action"]) == (kit.BLOCKED, "blocked")
    assert (await engine.aquery("q2")).response == kit.BLOCKED
    assert "".join(streaming.query("q3").response_gen) == kit.BLOCKED
    assert streaming.query("q4").get_response().response == kit.BLOCKED
    asynchronous = await streaming.aquery("q5")
    assert "".join([token async for token in asynchronous.async_response_gen()]) == kit.BLOCKED
    assert engine.synthesize(QueryBundle("q6"), engine.retrieve(QueryBundle("q6"))).response == kit.BLOCKED
    nodes = kit.Retriever().retrieve("q7")
    assert (await engine.asynthesize(QueryBundle("q7"), nodes)).response == kit.BLOCKED
    kit.assert_own_documents([f"q{number}" for number in range(1, 8)])


async def test_raise_reaches_the_caller(kit: Any) -> None:
    guard = kit.guard(policy="raise")
    engine, streaming = (guard.wrap_query_engine(kit.engine(streaming=streams)) for streams in (False, True))

    with pytest.raises(HallucinationError) as caught:
        engine.query("q1")
    assert caught.value.report.spans[0].text == "999"
    with pytest.raises(HallucinationError):
        await engine.aquery("q2")
    response = streaming.query("q3")
    with pytest.raises(HallucinationError):
        list(response.response_gen)
    asynchronous = await streaming.aquery("q4")
    with pytest.raises(HallucinationError):
        [token async for token in asynchronous.async_response_gen()]
    assert [report.action for report in kit.reports] == ["raised"] * 4


def test_failures_follow_on_error(kit: Any) -> None:
    broken = kit.Detector(error=RuntimeError("out of memory"))

    passed = kit.guard(detectors=[broken]).wrap_query_engine(kit.engine()).query("q1")
    assert (passed.response, passed.metadata["rag_guard"]["status"]) == (kit.lie("q1"), "error")
    with pytest.raises(DetectorError):
        kit.guard(detectors=[broken], on_error="raise").wrap_query_engine(kit.engine()).query("q1")
    empty = kit.engine()
    empty._retriever = kit.Retriever(empty=True)
    with pytest.raises(MissingContextError):
        kit.guard(on_missing_context="raise").wrap_query_engine(empty).query("q1")


def test_is_transparent(kit: Any) -> None:
    engine = GuardedQueryEngine(kit.engine(), "fast", policy="block")

    assert type(engine.retriever) is kit.Retriever
    assert any("text_qa_template" in name for name in engine.get_prompts())
    assert engine.guard.guard.policy == "block"
    assert GuardedQueryEngine(kit.engine(), engine.guard, policy="raise").guard.guard.policy == "raise"
    with pytest.raises(AttributeError):
        _ = engine._nothing


async def test_event_loop_stays_free(kit: Any) -> None:
    detector = kit.Detector(0.15)
    engine = kit.guard(detectors=[detector]).wrap_query_engine(kit.engine())
    engine.query("q0")  # the first check loads what it needs

    assert await kit.longest_pause(engine.aquery("q1")) < 0.1
    assert len(detector.threads) == 2


async def test_router(kit: Any) -> None:
    router = RouterQueryEngine(selector=First(), query_engine_tools=[tool(kit.engine())], llm=kit.Model())
    engine = kit.guard().wrap_query_engine(router)

    assert str(engine.query("q1")) == kit.BLOCKED
    assert str(await engine.aquery("q2")) == kit.BLOCKED


def test_retry_engine_asks_again_until_supported(kit: Any) -> None:
    asked: list[str] = []

    class Improving(kit.Model):  # type: ignore[name-defined,misc]
        honest_from: int

        def answer(self, prompt: str) -> str:
            asked.append(prompt)
            return str(kit.truth("q1") if len(asked) >= self.honest_from else kit.lie("q1"))

    def retrying(honest_from: int) -> RetryQueryEngine:
        asked.clear()
        engine = kit.engine()
        engine._response_synthesizer = get_response_synthesizer(llm=Improving(honest_from=honest_from))
        # A retry's query quotes the bad answer, so the ticket is asked for as such.
        engine._retriever._nodes = lambda query: kit.Retriever()._nodes("q1")
        return RetryQueryEngine(engine, GuardEvaluator("fast"), max_retries=1)

    assert str(retrying(2).query("q1")) == kit.truth("q1")
    assert len(asked) == 2
    assert str(kit.guard().wrap_query_engine(retrying(9)).query("q1")) == kit.BLOCKED


@pytest.mark.parametrize("sub_guard", [False, True])
def test_sub_answers_are_no_evidence(kit: Any, sub_guard: bool) -> None:
    sub = kit.engine(*([kit.guard()] if sub_guard else []))
    engine = SubQuestionQueryEngine(
        question_gen=TwoQuestions(),
        response_synthesizer=get_response_synthesizer(llm=kit.Model()),
        query_engine_tools=[tool(sub)],
        verbose=False,
        use_async=False,
    )

    response = kit.guard().wrap_query_engine(engine).query("q1")

    assert str(response) == kit.BLOCKED
    assert {document.id for document in kit.reports[-1].documents} == {"node-q1", "node-q9"}


class Scripted(CustomQueryEngine):
    """An engine of the user's own: it retrieves, and its answer says nothing of where it comes from."""

    retriever: Any
    answer: Any

    def custom_query(self, query_str: str) -> Any:
        nodes = self.retriever.retrieve(query_str)
        return self.answer(query_str, nodes)


async def test_custom_engine_that_returns_a_string(kit: Any) -> None:
    engine = Scripted(retriever=kit.Retriever(), answer=lambda query, nodes: kit.lie(query))

    response = kit.guard().wrap_query_engine(engine).query("q1")
    assert str(response) == kit.BLOCKED
    assert str(await kit.guard().wrap_query_engine(engine).aquery("q2")) == kit.BLOCKED
    kit.assert_own_documents(["q1", "q2"])


def test_custom_engine_that_returns_a_response(kit: Any) -> None:
    engine = Scripted(
        retriever=kit.Retriever(), answer=lambda query, nodes: Response(kit.lie(query), source_nodes=nodes)
    )

    assert str(kit.guard().wrap_query_engine(engine).query("q1")) == kit.BLOCKED


class Line(BaseModel):
    text: str


class Order(BaseModel):
    summary: str
    price: int
    lines: list[Line]


def test_structured_answers_field_by_field(kit: Any) -> None:
    order = Order(summary=kit.lie("q1"), price=5, lines=[Line(text=kit.truth("q1")), Line(text=kit.lie("q1"))])
    engine = Scripted(
        retriever=kit.Retriever(), answer=lambda query, nodes: PydanticResponse(order, source_nodes=nodes)
    )
    wrapped = kit.guard().wrap_query_engine(engine)

    response = wrapped._task(
        PydanticResponse(order, source_nodes=kit.Retriever().retrieve("q1")), QueryBundle("q1"), []
    )
    checked = response.run()

    assert checked.response == Order(
        summary=kit.BLOCKED, price=5, lines=[Line(text=kit.truth("q1")), Line(text=kit.BLOCKED)]
    )
    assert order.summary == kit.lie("q1"), "the model's own object is not touched"
    record = checked.metadata["rag_guard"]
    assert record["status"] == "hallucinated"
    assert {path: one["status"] for path, one in record["fields"].items()} == {
        "summary": "hallucinated",
        "lines.0.text": "supported",
        "lines.1.text": "hallucinated",
    }


def test_guards_are_shared_not_copied(kit: Any) -> None:
    guard = kit.guard()

    assert guard.wrap_query_engine(kit.engine()).guard is guard
    assert isinstance(GuardedQueryEngine(kit.engine(), "fast").guard, HallucinationGuard)
