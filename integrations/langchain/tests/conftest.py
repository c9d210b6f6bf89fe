"""Chains with a shop's retriever and a scripted chat model; every query has a document of its own.

A guard that mixes two requests up therefore sees a document about another ticket, which no test lets pass.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough

from langchain_rag_guard import HallucinationGuard
from langchain_rag_guard.capture import install_collector
from rag_guard import Report

PROMPT = ChatPromptTemplate.from_template("Context: {context}\nQ: {question}")


def price(query: str) -> int:
    return 17 + sum(map(ord, query)) % 50


def text_about(query: str) -> str:
    return f"Ticket {query} costs {price(query)} euros."


class TicketRetriever(BaseRetriever):
    delay: float = 0.0

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        time.sleep(random.random() * self.delay)
        return [Document(text_about(query), id=query, metadata={"query": query})]

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        await asyncio.sleep(random.random() * self.delay)
        return [Document(text_about(query), id=query, metadata={"query": query})]


class TicketModel(BaseChatModel):
    """Answers the last word of its prompt; ``lie`` states a price that no document has."""

    lie: bool = True
    delay: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "ticket"

    def _answer(self, messages: Sequence[Any]) -> str:
        query = str(messages[-1].content).split()[-1]
        return f"Ticket {query} costs 999 euros." if self.lie else text_about(query)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        time.sleep(random.random() * self.delay)
        usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
        message = AIMessage(self._answer(messages), usage_metadata=usage, response_metadata={"model": "ticket"})
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for token in re.findall(r"\S+\s*", self._answer(messages)):
            yield ChatGenerationChunk(message=AIMessageChunk(content=token))

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for token in re.findall(r"\S+\s*", self._answer(messages)):
            await asyncio.sleep(random.random() * self.delay / 5)
            yield ChatGenerationChunk(message=AIMessageChunk(content=token))


def joined(documents: Sequence[Document]) -> str:
    return "\n".join(document.page_content for document in documents)


def message_chain(lie: bool = True, delay: float = 0.0) -> Runnable[Any, Any]:
    context = TicketRetriever(delay=delay) | joined
    return {"context": context, "question": RunnablePassthrough()} | PROMPT | TicketModel(lie=lie, delay=delay)


def text_chain(lie: bool = True, delay: float = 0.0) -> Runnable[Any, Any]:
    return message_chain(lie, delay) | StrOutputParser()


def dict_chain(lie: bool = True) -> Runnable[Any, Any]:
    answer = (
        RunnablePassthrough.assign(context=lambda state: joined(state["context"]))
        | PROMPT
        | TicketModel(lie=lie)
        | StrOutputParser()
    )
    return RunnablePassthrough.assign(context=(lambda state: state["question"]) | TicketRetriever()).assign(
        answer=answer
    )


class Kit:
    """What the tests build with; a class because test modules do not import each other."""

    PROMPT = PROMPT
    Model = TicketModel
    Retriever = TicketRetriever
    text_about = staticmethod(text_about)
    joined = staticmethod(joined)
    message_chain = staticmethod(message_chain)
    text_chain = staticmethod(text_chain)
    dict_chain = staticmethod(dict_chain)

    def __init__(self) -> None:
        self.reports: list[Report] = []

    def guard(self, **options: Any) -> HallucinationGuard:
        """The real guard without embeddings; its reports are collected."""
        return HallucinationGuard("fast", on_report=self.reports.append, **options)

    def documents(self) -> dict[str, list[str]]:
        """Texts that each answered query was checked against."""
        found = {}
        for report in self.reports:
            query = report.answer.split()[1]
            assert query not in found
            found[query] = [document.text for document in report.documents]
        return found

    def assert_own_documents(self, queries: Sequence[str]) -> None:
        assert self.documents() == {query: [text_about(query)] for query in queries}


@pytest.fixture
def kit() -> Iterator[Kit]:
    yield Kit()
    assert install_collector().size == 0, "the collector remembers runs that have ended"


@pytest.fixture(params=["step", "wrap"])
def attach(request: pytest.FixtureRequest) -> Callable[[Any, HallucinationGuard], Runnable[Any, Any]]:
    """Both ways to put a guard on a chain."""
    if request.param == "step":
        return lambda chain, guard: chain | guard
    return lambda chain, guard: guard.wrap(chain)
