"""Engines over a shop's tickets and a scripted model; every query has a document of its own.

A guard that mixes two queries up therefore sees a document about another ticket, which no test lets pass.
"""

from __future__ import annotations

import asyncio
import gc
import random
import re
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.llms import CustomLLM, MockLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.postprocessor.rag_guard import HallucinationGuard
from llama_index.postprocessor.rag_guard.links import LOOSE, SPANS

from rag_guard import HallucinationGuard as CoreGuard
from rag_guard import Report

Settings.llm = MockLLM()  # so that nothing ever looks for a remote model
Settings.embed_model = MockEmbedding(embed_dim=4)

BLOCKED = "I could not verify an answer in the provided documents."


def price(query: str) -> int:
    return 17 + sum(map(ord, query)) % 50


def truth(query: str) -> str:
    return f"Ticket {query} costs {price(query)} euros."


def lie(query: str) -> str:
    return f"Ticket {query} costs 999 euros."


class TicketRetriever(BaseRetriever):
    def __init__(self, delay: float = 0.0, empty: bool = False) -> None:
        self._delay, self._empty = delay, empty
        super().__init__()

    def _nodes(self, query: str) -> list[NodeWithScore]:
        if self._empty:
            return []
        node = TextNode(text=truth(query), id_=f"node-{query}", metadata={"shop": "Museum"})
        return [NodeWithScore(node=node, score=1.0)]

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        time.sleep(random.random() * self._delay)
        return self._nodes(query_bundle.query_str)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(random.random() * self._delay)
        return self._nodes(query_bundle.query_str)


class TicketLLM(CustomLLM):
    """States a price that no document has, for the ticket that its prompt asks about; honest: the right price."""

    honest: bool = False
    delay: float = 0.0
    after: str = ""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="ticket", context_window=4096, num_output=64)

    def answer(self, prompt: str) -> str:
        found = re.findall(r"Query: (\S+)", prompt) or re.findall(r"user: (\S+)", prompt)
        query = found[-1] if found else prompt.split()[-1]
        return (truth(query) if self.honest else lie(query)) + self.after

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        time.sleep(random.random() * self.delay)
        return CompletionResponse(text=self.answer(prompt))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Iterator[CompletionResponse]:
        def tokens() -> Iterator[CompletionResponse]:
            text = ""
            for token in re.findall(r"\S+\s*", self.answer(prompt)):
                time.sleep(random.random() * self.delay / 5)
                text += token
                yield CompletionResponse(text=text, delta=token)

        return tokens()

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        await asyncio.sleep(random.random() * self.delay)
        return CompletionResponse(text=self.answer(prompt))

    @llm_completion_callback()
    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> AsyncIterator[CompletionResponse]:
        async def tokens() -> AsyncIterator[CompletionResponse]:
            text = ""
            for token in re.findall(r"\S+\s*", self.answer(prompt)):
                await asyncio.sleep(random.random() * self.delay / 5)
                text += token
                yield CompletionResponse(text=text, delta=token)

        return tokens()


class Detector:
    """The real detector with a pause or an error, and the threads that it ran in."""

    def __init__(self, seconds: float = 0.0, error: BaseException | None = None) -> None:
        (self._detector,) = CoreGuard("fast").detectors
        self.name, self.version = self._detector.name, self._detector.version
        self.threshold = self._detector.threshold
        self.seconds, self.error = seconds, error
        self.threads: list[threading.Thread] = []
        self.batches: list[int] = []

    def detect(self, analyses: Sequence[Any]) -> list[Any]:
        self.threads.append(threading.current_thread())
        self.batches.append(len(analyses))
        time.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        return self._detector.detect(analyses)


def engine(*postprocessors: Any, honest: bool = False, delay: float = 0.0, after: str = "", **options: Any) -> Any:
    return RetrieverQueryEngine.from_args(
        TicketRetriever(delay),
        llm=TicketLLM(honest=honest, delay=delay, after=after),
        node_postprocessors=list(postprocessors),
        **options,
    )


async def longest_pause(work: Any) -> float:
    """Seconds that the event loop was at most kept from other tasks while ``work`` ran."""
    pauses: list[float] = []

    async def tick() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.005)
            now = time.perf_counter()
            pauses.append(now - last)
            last = now

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0.02)
    await work
    await asyncio.sleep(0.02)
    ticking.cancel()
    return max(pauses)


class Kit:
    """What the tests build with; a class because test modules do not import each other."""

    BLOCKED = BLOCKED
    Retriever = TicketRetriever
    Model = TicketLLM
    Detector = Detector
    truth = staticmethod(truth)
    lie = staticmethod(lie)
    engine = staticmethod(engine)
    longest_pause = staticmethod(longest_pause)

    def __init__(self) -> None:
        self.reports: list[Report] = []

    def guard(self, **options: Any) -> HallucinationGuard:
        """The real guard without embeddings, blocking; its reports are collected."""
        preset = None if "detectors" in options else "fast"
        return HallucinationGuard(preset, **{"policy": "block", "on_report": self.reports.append, **options})

    def assert_own_documents(self, queries: Sequence[str]) -> None:
        found = {}
        for report in self.reports:
            query = report.answer.split()[1]
            assert query not in found, "an answer was checked twice"
            found[query] = [document.id for document in report.documents]
        assert found == {query: [f"node-{query}"] for query in queries}


@pytest.fixture
def kit() -> Iterator[Kit]:
    yield Kit()
    gc.collect()
    assert SPANS.size == 0, "spans that have ended are remembered"
    assert LOOSE.size == 0, "nodes that are gone are remembered"
