"""Streams: what leaves when, each token once, and one report of the whole answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.postprocessor.rag_guard.checking import Checker
from llama_index.postprocessor.rag_guard.responses import Task
from llama_index.postprocessor.rag_guard.streaming import AnswerStream
from pydantic import BaseModel

from rag_guard import HallucinationError, HallucinationGuard, Report, Status

NODES = [NodeWithScore(node=TextNode(text="The hall seats 600. It opened in 1995. It has a bar.", id_="hall"))]
GOOD, BAD, LAST = "The hall seats 600. ", "It opened in 1968. ", "It has a bar."


def checker(mode: str, policy: str = "block") -> tuple[Checker, list[Report]]:
    reports: list[Report] = []
    guard = HallucinationGuard("fast", policy=policy)  # type: ignore[arg-type]
    return Checker(guard, mode, on_report=reports.append), reports  # type: ignore[arg-type]


class Source:
    """Tokens of an answer, and how many of them have been asked for."""

    def __init__(self, *texts: str) -> None:
        self.tokens = [token for text in texts for token in _words(text)]
        self.given = 0
        self.closed = False

    def __iter__(self) -> Iterator[str]:
        return self._tokens()

    def _tokens(self) -> Iterator[str]:
        try:
            for token in self.tokens:
                self.given += 1
                yield token
        finally:
            self.closed = True

    async def asynchronous(self) -> AsyncIterator[str]:
        for token in self._tokens():
            yield token


def _words(text: str) -> list[str]:
    import re

    return re.findall(r"\S+\s*", text)


def stream(source: Source, check: Checker, strict: bool = False) -> StreamingResponse:
    response = StreamingResponse(response_gen=iter(source), source_nodes=NODES)  # type: ignore[arg-type]
    return Task(check, response, None, strict=strict).run()  # type: ignore[no-any-return]


async def read_both_ways(source: Source, check: Checker) -> list[str]:
    """The stream's tokens, the same from a synchronous and an asynchronous one."""
    tokens = list(stream(source, check).response_gen)
    response = AsyncStreamingResponse(response_gen=source.asynchronous(), source_nodes=NODES)  # type: ignore[arg-type]
    await Task(check, response, None).arun()
    assert [token async for token in response.async_response_gen()] == tokens
    return tokens


async def test_buffer_keeps_the_tokens_of_a_supported_answer() -> None:
    source, (check, reports) = Source(GOOD, LAST), checker("buffer")

    assert await read_both_ways(source, check) == source.tokens
    assert [report.status for report in reports] == [Status.SUPPORTED] * 2


async def test_buffer_lets_nothing_of_a_blocked_answer_out() -> None:
    check, _ = checker("buffer")

    assert await read_both_ways(Source(GOOD, BAD, LAST), check) == [check.core.block_message]


async def test_sentences_leave_while_the_answer_goes_on() -> None:
    source, (check, _) = Source(GOOD, "It opened in 1995. ", LAST), checker("sentence")

    tokens = iter(stream(source, check).response_gen)
    assert next(tokens) == GOOD
    assert source.given < len(source.tokens)
    assert [*tokens] == ["It opened in 1995. ", LAST]


async def test_a_blocked_sentence_ends_the_stream() -> None:
    source, (check, reports) = Source(GOOD, BAD, LAST), checker("sentence")

    assert await read_both_ways(source, check) == [GOOD, check.core.block_message]
    assert source.closed
    report = reports[0]
    assert (report.answer, report.output) == (GOOD + BAD, GOOD + check.core.block_message)
    assert report.action == "blocked"


async def test_one_report_of_all_sentences_with_offsets_into_the_answer() -> None:
    check, reports = checker("sentence", policy="report")

    assert "".join(await read_both_ways(Source(GOOD, BAD, LAST), check)) == GOOD + BAD + LAST
    report = reports[0]
    assert report.answer == report.output == GOOD + BAD + LAST
    assert report.status is Status.HALLUCINATED
    assert [span.text for span in report.spans] == ["1968"]
    for item in (*report.spans, *report.claims, *(one for entity in report.entities for one in entity.mentions)):
        assert report.answer[item.start : item.end] == item.text
    assert "1968" in report.claims[report.spans[0].claim or 0].text


async def test_annotate_passes_tokens_at_once_and_unchanged() -> None:
    source, (check, reports) = Source(GOOD, BAD, LAST), checker("annotate")

    response = stream(source, check)
    tokens = iter(response.response_gen)
    assert next(tokens) == source.tokens[0]
    assert source.given == 1
    assert reports == []
    assert [source.tokens[0], *tokens] == source.tokens
    assert (reports[0].action, reports[0].output) == ("reported", GOOD + BAD + LAST)
    assert response.metadata is not None
    assert response.metadata["rag_guard"]["status"] == "hallucinated"


def test_a_raised_sentence_carries_the_answer_so_far() -> None:
    check, reports = checker("sentence", policy="raise")
    tokens = iter(stream(Source(GOOD, BAD, LAST), check, strict=True).response_gen)

    assert next(tokens) == GOOD
    with pytest.raises(HallucinationError) as caught:
        next(tokens)
    report = caught.value.report
    assert report.answer == GOOD + BAD
    assert report.answer[report.spans[0].start : report.spans[0].end] == "1968"
    assert reports == [report]


def test_an_abandoned_stream_closes_its_source() -> None:
    source, (check, _) = Source(GOOD, LAST), checker("annotate")
    tokens = stream(source, check).response_gen

    next(iter(tokens))
    tokens.close()

    assert source.closed


def test_citations_stay_with_their_sentence() -> None:
    check, _ = checker("sentence", policy="report")

    tokens = list(stream(Source("The hall seats 600. [1] ", "It has a bar [1]. ", LAST), check).response_gen)

    assert tokens == ["The hall seats 600. [1] ", "It has a bar [1]. ", LAST]


def test_an_empty_stream_stays_empty() -> None:
    check, reports = checker("sentence")

    assert "".join(stream(Source(), check).response_gen) == ""
    assert [report.status.is_verdict for report in reports] == [False]


class Fact(BaseModel):
    text: str


async def test_structured_streams_give_their_last_object() -> None:
    check, _ = checker("buffer")
    objects = [Fact(text="The hall"), Fact(text=(GOOD + BAD).strip())]

    response = StreamingResponse(response_gen=iter(objects), source_nodes=NODES)  # type: ignore[arg-type]
    assert list(Task(check, response, None).run().response_gen) == [Fact(text=check.core.block_message)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b. ", "C", " ", "\n", "- x\n", "1. ", "[1]", "[", "]", "。", "é", "```", "|"])),
    st.sampled_from(["buffer", "sentence", "annotate"]),
)
def test_tokens_that_no_policy_changes_leave_once(tokens: list[str], mode: str) -> None:
    state = AnswerStream(mode)  # type: ignore[arg-type]
    left: list[str] = []

    def passed(part: str) -> Report:
        return Report(status=Status.SUPPORTED, answer=part, output=part)

    for token in tokens:
        left += state.take(token)
        while (part := state.due()) is not None:
            left += state.release(part, passed(part))
    if (part := state.rest()) is not None:
        left += state.release(part, passed(part))

    assert "".join(left) == "".join(tokens)
    assert state.report().answer == state.report().output == "".join(tokens)
