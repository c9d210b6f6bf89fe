"""Nothing unchecked leaves a stream, and nothing else waits for the check."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import RunnableGenerator
from langchain_core.runnables.utils import AddableDict

from rag_guard import HallucinationError

BLOCKED = "I could not verify an answer in the provided documents."


def test_dict_stream_passes_other_keys_at_once_and_the_answer_checked(kit: Any, attach: Any) -> None:
    chain = attach(kit.dict_chain(), kit.guard(policy="block"))

    chunks = list(chain.stream({"question": "q1"}))

    assert [list(chunk) for chunk in chunks] == [["question"], ["context"], ["answer", "rag_guard"]]
    total = chunks[0]
    for chunk in chunks[1:]:
        total = total + chunk
    invoked = chain.invoke({"question": "q1"})
    for output in (total, invoked):
        del output["rag_guard"]["timings_ms"]
    assert total == invoked


async def test_async_dict_stream_does_the_same(kit: Any, attach: Any) -> None:
    chain = attach(kit.dict_chain(), kit.guard(policy="block"))

    chunks = [chunk async for chunk in chain.astream({"question": "q1"})]

    assert [list(chunk) for chunk in chunks] == [["question"], ["context"], ["answer", "rag_guard"]]
    assert chunks[-1]["answer"] == BLOCKED


def test_context_leaves_before_the_answer_exists(kit: Any, attach: Any) -> None:
    made = []

    def slow(inputs: Iterator[Any]) -> Iterator[Any]:
        for _ in inputs:
            yield AddableDict(context=[kit.text_about("q1")])
            for part in ("Ticket q1 ", "costs 999 euros."):
                made.append(part)
                yield AddableDict(answer=part)

    stream = attach(RunnableGenerator(slow), kit.guard(policy="block")).stream("q1")

    # LangChain itself reads one chunk ahead of a step, so the first part of the answer may exist.
    assert "context" in next(stream)
    assert len(made) <= 1
    assert [chunk["answer"] for chunk in stream] == [BLOCKED]


def test_no_candidate_for_the_answer_leaves_before_it_is_known_which_one_it_is(kit: Any) -> None:
    chunks = [
        {"text": "Ticket q1 costs 999 euros."},
        {"context": [kit.text_about("q1")]},
        {"answer": "Ticket "},
    ]
    chunks.append({"answer": "q1 costs 999 euros."})

    out = list(kit.guard(policy="block").transform(iter(chunks)))

    assert [list(chunk) for chunk in out] == [["context"], ["text", "answer", "rag_guard"]]
    assert out[-1]["answer"] == BLOCKED


def test_message_chunks_add_up_to_one_checked_message(kit: Any, attach: Any) -> None:
    (chunk,) = attach(kit.message_chain(), kit.guard(policy="block")).stream("q1")

    assert isinstance(chunk, AIMessageChunk)
    assert chunk.content == BLOCKED
    assert chunk.response_metadata["rag_guard"]["status"] == "hallucinated"


def test_sub_word_tokens_are_checked_as_words(kit: Any) -> None:
    tokens = ["Tick", "et q", "1 co", "sts 9", "9", "9 eu", "ros."]

    kit.guard(context_key=None).invoke({"context": kit.text_about("q1"), "answer": "".join(tokens)})
    list(kit.guard().transform(iter([{"context": kit.text_about("q1")}, *({"answer": token} for token in tokens)])))

    assert kit.reports[1].answer == "Ticket q1 costs 999 euros."
    assert kit.reports[0].spans == kit.reports[1].spans


def test_tool_calls_and_other_values_go_through_in_order(kit: Any) -> None:
    call = AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "1"}])

    assert list(kit.guard(policy="block").transform(iter([3, call, 4]))) == [3, 4, call]


def test_raise_ends_the_stream_before_the_answer(kit: Any, attach: Any) -> None:
    received = []

    def collect() -> None:
        for chunk in attach(kit.dict_chain(), kit.guard(policy="raise")).stream({"question": "q1"}):
            received.append(chunk)  # noqa: PERF402 - what came before the error counts

    with pytest.raises(HallucinationError) as caught:
        collect()

    assert [list(chunk) for chunk in received] == [["question"], ["context"]]
    assert caught.value.report.spans[0].text == "999"


def test_interleaved_streams_keep_their_documents(kit: Any, attach: Any) -> None:
    chain = attach(kit.text_chain(), kit.guard())
    queries = ["q1", "q2", "q3"]
    live = [chain.stream(query) for query in queries]

    outputs = []
    while live:
        for stream in list(live):
            chunk = next(stream, None)
            if chunk is None:
                live.remove(stream)
            else:
                outputs.append(chunk)

    assert sorted(outputs) == [f"Ticket {query} costs 999 euros." for query in queries]
    kit.assert_own_documents(queries)


def test_abandoned_stream_leaves_nothing_behind(kit: Any, attach: Any) -> None:
    stream = attach(kit.dict_chain(), kit.guard()).stream({"question": "q1"})
    next(stream)
    stream.close()

    assert kit.reports == []


async def test_abandoned_async_stream_leaves_nothing_behind(kit: Any, attach: Any) -> None:
    stream = attach(kit.dict_chain(), kit.guard()).astream({"question": "q1"})
    await anext_(stream)
    await stream.aclose()

    assert kit.reports == []


async def anext_(stream: AsyncIterator[Any]) -> Any:
    """``anext`` that type checkers of every supported Python know."""
    return await stream.__anext__()


def test_empty_stream_gives_nothing(kit: Any) -> None:
    assert list(kit.guard().transform(iter([]))) == []
