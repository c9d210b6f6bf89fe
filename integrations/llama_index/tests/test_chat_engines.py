"""Chat engines: the answer, the stream, and what memory keeps."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine, ContextChatEngine

from rag_guard import HallucinationError

KINDS = [ContextChatEngine, CondensePlusContextChatEngine]


def chat_engine(kit: Any, kind: Any, *postprocessors: Any, **options: Any) -> Any:
    return kind.from_defaults(
        retriever=kit.Retriever(), llm=kit.Model(**options), node_postprocessors=list(postprocessors)
    )


def kept(chat: Any) -> str:
    return str(chat.chat_history[-1].content)


@pytest.mark.parametrize("kind", KINDS)
async def test_answer_and_memory_are_the_checked_ones(kit: Any, kind: Any) -> None:
    chat = chat_engine(kit, kind, kit.guard())
    assert (str(chat.chat("q1")), kept(chat)) == (kit.BLOCKED, kit.BLOCKED)

    chat = chat_engine(kit, kind, kit.guard())
    assert (str(await chat.achat("q2")), kept(chat)) == (kit.BLOCKED, kit.BLOCKED)

    chat = chat_engine(kit, kind, kit.guard())
    assert ("".join(chat.stream_chat("q3").response_gen), kept(chat)) == (kit.BLOCKED, kit.BLOCKED)

    chat = chat_engine(kit, kind, kit.guard())
    stream = await chat.astream_chat("q4")
    assert "".join([token async for token in stream.async_response_gen()]) == kit.BLOCKED
    assert kept(chat) == kit.BLOCKED


@pytest.mark.parametrize("mode", ["buffer", "sentence", "annotate"])
def test_every_token_of_a_supported_stream_arrives_once(kit: Any, mode: str) -> None:
    more = " The shop is the Museum. Ask there!"
    chat = chat_engine(kit, ContextChatEngine, kit.guard(stream_mode=mode), honest=True, after=more)

    tokens = list(chat.stream_chat("q1").response_gen)

    assert "".join(tokens) == kept(chat) == kit.truth("q1") + more
    assert len(tokens) > 1
    assert len(kit.reports) == 1


def test_condensed_question_and_index_chat(kit: Any) -> None:
    condensing = CondenseQuestionChatEngine.from_defaults(query_engine=kit.engine(kit.guard()), llm=kit.Model())
    assert str(condensing.chat("q1")) == kit.BLOCKED

    index = VectorStoreIndex.from_documents([Document(text=kit.truth("q1"))])
    chat = index.as_chat_engine(chat_mode="context", llm=kit.Model(), node_postprocessors=[kit.guard()])
    assert str(chat.chat("q1")) == kit.BLOCKED


def test_watching_an_engine_without_the_guard(kit: Any) -> None:
    chat = chat_engine(kit, ContextChatEngine)

    with kit.guard().watching() as watch:
        assert str(chat.chat("q1")) == kit.BLOCKED
    assert kept(chat) == kit.BLOCKED
    assert [report.action for report in watch.reports] == ["blocked"]
    assert str(chat.chat("q2")) == kit.lie("q2"), "the block is over"
    assert len(kit.reports) == 1


def test_watching_raises_and_memory_stays_clean(kit: Any) -> None:
    chat = chat_engine(kit, ContextChatEngine)

    with pytest.raises(HallucinationError), kit.guard(policy="raise").watching():
        chat.chat("q1")

    assert kept(chat) == kit.BLOCKED


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_watching_a_stream_raises_where_it_is_read(kit: Any) -> None:
    chat = chat_engine(kit, ContextChatEngine)

    with kit.guard(policy="raise").watching():
        stream = chat.stream_chat("q1")
        with pytest.raises(HallucinationError):
            list(stream.response_gen)

    assert all("999" not in (message.content or "") for message in chat.chat_history)


async def test_watching_concerns_its_own_task_only(kit: Any) -> None:
    async def ask(query: str, watched: bool) -> str:
        chat = chat_engine(kit, ContextChatEngine, delay=0.01)
        if not watched:
            return str(await chat.achat(query))
        with kit.guard().watching() as watch:
            answer = str(await chat.achat(query))
        assert [report.answer for report in watch.reports] == [kit.lie(query)]
        return answer

    answers = await asyncio.gather(*(ask(f"q{number}", number % 2 == 1) for number in range(12)))

    assert answers == [kit.BLOCKED if number % 2 else kit.lie(f"q{number}") for number in range(12)]


def test_watching_and_a_guard_in_the_engine(kit: Any) -> None:
    with kit.guard(policy="raise").watching() as watch:
        assert str(kit.engine(kit.guard()).query("q1")) == kit.BLOCKED

    assert [report.status.value for report in watch.reports] != ["hallucinated"]
