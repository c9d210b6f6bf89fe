"""Many queries through one guard: no mix-up, nothing left behind (the fixture checks the registries)."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step

QUERIES = [f"q{number}" for number in range(24)]


@pytest.fixture(params=["postprocessor", "wrapper"])
def guarded(request: pytest.FixtureRequest, kit: Any) -> Any:
    def build(**options: Any) -> Any:
        guard = kit.guard()
        if request.param == "wrapper":
            return guard.wrap_query_engine(kit.engine(delay=0.02, **options))
        return kit.engine(guard, delay=0.02, **options)

    return build


def test_threads(kit: Any, guarded: Any) -> None:
    engine = guarded()

    with ThreadPoolExecutor(24) as pool:
        assert [str(response) for response in pool.map(engine.query, QUERIES)] == [kit.BLOCKED] * 24
    kit.assert_own_documents(QUERIES)


async def test_tasks(kit: Any, guarded: Any) -> None:
    engine = guarded()

    responses = await asyncio.gather(*map(engine.aquery, QUERIES))

    assert [str(response) for response in responses] == [kit.BLOCKED] * 24
    kit.assert_own_documents(QUERIES)


async def test_asynchronous_streams(kit: Any, guarded: Any) -> None:
    engine = guarded(streaming=True)

    async def read(query: str) -> str:
        response = await engine.aquery(query)
        return "".join([token async for token in response.async_response_gen()])

    assert await asyncio.gather(*map(read, QUERIES)) == [kit.BLOCKED] * 24
    kit.assert_own_documents(QUERIES)


def test_streams_in_threads(kit: Any, guarded: Any) -> None:
    engine = guarded(streaming=True)

    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(lambda query: "".join(engine.query(query).response_gen), QUERIES))

    assert answers == [kit.BLOCKED] * 24
    kit.assert_own_documents(QUERIES)


def test_interleaved_streams(kit: Any, guarded: Any) -> None:
    engine = guarded(streaming=True)

    streams = [iter(engine.query(query).response_gen) for query in QUERIES[:3]]

    assert [next(stream) for stream in streams] == [kit.BLOCKED] * 3
    assert [list(stream) for stream in streams] == [[], [], []]
    kit.assert_own_documents(QUERIES[:3])


def test_a_failed_query_is_forgotten(kit: Any) -> None:
    class Failing(kit.Model):  # type: ignore[name-defined,misc]
        def answer(self, prompt: str) -> str:
            raise ConnectionError("the model is gone")

    engine = kit.engine(kit.guard())
    engine._response_synthesizer = get_response_synthesizer(llm=Failing())

    with pytest.raises(ConnectionError):
        engine.query("q1")
    assert kit.reports == []


async def test_chats(kit: Any) -> None:
    guard = kit.guard()

    async def chat(query: str) -> str:
        engine = ContextChatEngine.from_defaults(
            retriever=kit.Retriever(0.01), llm=kit.Model(delay=0.01), node_postprocessors=[guard]
        )
        await engine.achat(query)
        return str(engine.chat_history[-1].content)

    assert await asyncio.gather(*map(chat, QUERIES)) == [kit.BLOCKED] * 24
    kit.assert_own_documents(QUERIES)


class Found(Event):
    query: str
    nodes: list[Any]


async def test_steps_of_a_workflow_are_linked_by_their_nodes(kit: Any) -> None:
    guard = kit.guard()

    class Flow(Workflow):
        @step
        async def retrieve(self, ev: StartEvent) -> Found:
            nodes = await kit.Retriever(0.01).aretrieve(ev.query)
            return Found(query=ev.query, nodes=await guard.apostprocess_nodes(nodes, query_str=ev.query))

        @step
        async def answer(self, ev: Found) -> StopEvent:
            response = await get_response_synthesizer(llm=kit.Model()).asynthesize(ev.query, ev.nodes)
            return StopEvent(result=str(response))

    async def run(query: str) -> str:
        return str(await Flow().run(query=query))

    assert await asyncio.gather(*map(run, QUERIES)) == [kit.BLOCKED] * 24
    kit.assert_own_documents(QUERIES)
