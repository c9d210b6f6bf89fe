"""Many requests through one guard: no mix-up, nothing left behind."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda

from langchain_rag_guard.capture import install_collector

QUERIES = [f"q{number}" for number in range(64)]


def test_sixty_four_threads(kit: Any, attach: Any) -> None:
    chain = attach(kit.text_chain(delay=0.02), kit.guard())

    with ThreadPoolExecutor(64) as pool:
        outputs = list(pool.map(chain.invoke, QUERIES))

    assert outputs == [f"Ticket {query} costs 999 euros." for query in QUERIES]
    kit.assert_own_documents(QUERIES)


async def test_sixty_four_tasks(kit: Any, attach: Any) -> None:
    chain = attach(kit.text_chain(delay=0.02), kit.guard())

    outputs = await asyncio.gather(*(chain.ainvoke(query) for query in QUERIES))

    assert outputs == [f"Ticket {query} costs 999 euros." for query in QUERIES]
    kit.assert_own_documents(QUERIES)


async def test_sixty_four_async_streams(kit: Any, attach: Any) -> None:
    chain = attach(kit.text_chain(delay=0.02), kit.guard())

    async def collect(query: str) -> str:
        return "".join([chunk async for chunk in chain.astream(query)])

    outputs = await asyncio.gather(*map(collect, QUERIES))

    assert outputs == [f"Ticket {query} costs 999 euros." for query in QUERIES]
    kit.assert_own_documents(QUERIES)


def test_streams_in_threads(kit: Any, attach: Any) -> None:
    chain = attach(kit.dict_chain(), kit.guard())

    def collect(query: str) -> Any:
        return [chunk["answer"] for chunk in chain.stream({"question": query}) if "answer" in chunk]

    with ThreadPoolExecutor(32) as pool:
        outputs = list(pool.map(collect, QUERIES))

    assert outputs == [[f"Ticket {query} costs 999 euros."] for query in QUERIES]
    kit.assert_own_documents(QUERIES)


async def test_cancelled_tasks_leave_nothing_behind(kit: Any, attach: Any) -> None:
    async def endless(text: str) -> str:
        await asyncio.sleep(60)
        return text

    chain = attach(kit.text_chain() | RunnableLambda(endless), kit.guard())
    tasks = [asyncio.create_task(chain.ainvoke(query)) for query in QUERIES[:8]]
    await asyncio.sleep(0.2)
    assert install_collector().size > 0
    for task in tasks:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)

    assert all(isinstance(result, asyncio.CancelledError) for result in results)
    assert install_collector().size == 0


def test_errors_leave_nothing_behind(kit: Any, attach: Any) -> None:
    def explode(text: str) -> str:
        raise ZeroDivisionError

    chain = attach(kit.text_chain() | RunnableLambda(explode), kit.guard())

    for run in (chain.invoke, lambda query: list(chain.stream(query)), lambda query: chain.batch([query])):
        with pytest.raises(ZeroDivisionError):
            run("q1")
    assert install_collector().size == 0


def test_a_thousand_runs_leave_nothing_behind(kit: Any) -> None:
    chain = RunnableLambda(lambda query: query) | kit.Retriever() | kit.joined

    for number in range(1000):
        chain.invoke(f"q{number}")

    assert install_collector().size == 0


def test_collector_costs_little(kit: Any) -> None:
    """Recording is a few dictionary operations per event: far below a millisecond for a whole small chain."""
    recorder = install_collector()
    began = time.perf_counter()
    for _ in range(200):
        run_id, child = _ids(2)
        recorder.on_chain_start(None, "q", run_id=run_id)
        recorder.on_retriever_start(None, "q", run_id=child, parent_run_id=run_id)
        recorder.on_retriever_end([], run_id=child)
        recorder.on_chain_end("a", run_id=run_id)
    per_run = (time.perf_counter() - began) / 200

    assert per_run < 0.005


def _ids(count: int) -> list[Any]:
    from uuid import uuid4

    return [uuid4() for _ in range(count)]
