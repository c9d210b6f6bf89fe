"""A checked answer written back into the very response that an engine returns, whatever its type."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.schema import NodeWithScore
from llama_index.postprocessor.rag_guard.checking import Checker, logger
from llama_index.postprocessor.rag_guard.evidence import Sources, sources_of
from llama_index.postprocessor.rag_guard.fields import dotted, strings_in, with_strings
from llama_index.postprocessor.rag_guard.streaming import AnswerStream

from rag_guard import HallucinationError, Report


@dataclass
class Task:
    """One response to check, in place.

    Attributes:
        nodes: what it was made from; None for its own ``source_nodes``.
        strict: whether a policy may raise, and ``strict_stream`` whether it may while a stream is read.
        warnings: to add to the report.
    """

    checker: Checker
    response: Any
    question: str | None
    nodes: Sequence[NodeWithScore] | None = None
    strict: bool = False
    strict_stream: bool | None = None
    warnings: Sequence[str] = field(default=())

    def run(self) -> Any:
        """Check the response and return it. Streams are checked while they are read.

        Raises:
            HallucinationError: ``strict`` and the policy says so; likewise the other errors of the core.
        """
        if not self._stream():
            texts = self._texts()
            if texts:
                try:
                    reports = self.checker.check(texts, self._nodes, self.question, **self._how)
                except HallucinationError as error:
                    self.checker.publish(error.report)
                    raise
                self._write(reports)
        return self.response

    async def arun(self) -> Any:
        """:meth:`run` with the check in a worker thread."""
        if not self._stream():
            texts = self._texts()
            if texts:
                try:
                    reports = await self.checker.acheck(texts, self._nodes, self.question, **self._how)
                except HallucinationError as error:
                    self.checker.publish(error.report)
                    raise
                self._write(reports)
        return self.response

    @property
    def _nodes(self) -> Sequence[NodeWithScore]:
        return self.response.source_nodes if self.nodes is None else self.nodes

    @property
    def _how(self) -> dict[str, Any]:
        return {"strict": self.strict, "warnings": self.warnings}

    @property
    def _how_in_stream(self) -> dict[str, Any]:
        strict = self.strict if self.strict_stream is None else self.strict_stream
        return {"strict": strict, "warnings": self.warnings}

    def _texts(self) -> list[str]:
        if isinstance(self.response, PydanticResponse):
            return [text for _, text in strings_in(self.response.response)]
        text = getattr(self.response, "response", None)
        return [text] if isinstance(text, str) else []

    def _write(self, reports: list[Report]) -> None:
        if isinstance(self.response, PydanticResponse):
            self.response.response = self._write_fields(self.response.response, reports)
        else:
            self.response.response = reports[0].output
            self._attach(reports[0])

    def _write_fields(self, value: Any, reports: list[Report]) -> Any:
        paths = [path for path, _ in strings_in(value)]
        self._attach(*reports, fields=[dotted(path) for path in paths])
        changed = {
            path: report.output for path, report in zip(paths, reports, strict=True) if report.output != report.answer
        }
        return with_strings(value, changed) if changed else value

    def _attach(self, *reports: Report, fields: Sequence[str] | None = None) -> None:
        """Put the report into the response's metadata; of a structured answer, all of them and the worst on top."""
        try:
            sources = sources_of(self._nodes)
        except Exception:
            sources = Sources()  # The report says so: its status is error.
        records = [self.checker.record(report, sources) for report in reports]
        record = max(records, key=lambda one: (one["status"] == "hallucinated", one["score"] or 0.0))
        if fields is not None:
            record = {**record, "fields": dict(zip(fields, records, strict=True))}
        self.response.metadata = {**(self.response.metadata or {}), self.checker.report_key: record}
        for report in reports:
            self.checker.publish(report)

    def _stream(self) -> bool:
        if isinstance(self.response, StreamingResponse) and self.response.response_gen is not None:
            self.response.response_gen = self._tokens(self.response.response_gen)  # type: ignore[assignment]
            return True
        if isinstance(self.response, AsyncStreamingResponse) and self.response.response_gen is not None:
            self.response.response_gen = self._atokens(self.response.response_gen)  # type: ignore[assignment]
            return True
        return isinstance(self.response, (StreamingResponse, AsyncStreamingResponse))

    def _tokens(self, tokens: Iterator[Any]) -> Iterator[Any]:
        stream = AnswerStream(self.checker.stream_mode)
        structured: list[Any] = []

        def checked(part: str) -> list[str]:
            try:
                (report,) = self.checker.check([part], self._nodes, self.question, **self._how_in_stream)
            except HallucinationError as error:
                raise self._whole(stream, part, error) from None
            return stream.release(part, report)

        try:
            for token in tokens:
                if not isinstance(token, str):
                    structured[:] = [token]
                    continue
                yield from stream.take(token)
                while not stream.stopped and (part := stream.due()) is not None:
                    yield from checked(part)
                if stream.stopped:
                    break
            if structured:
                texts = [text for _, text in strings_in(structured[0])]
                how = self._how_in_stream
                reports = self.checker.check(texts, self._nodes, self.question, **how) if texts else []
                yield self._write_fields(structured[0], reports) if reports else structured[0]
                return
            if not stream.stopped and (part := stream.rest()) is not None:
                yield from checked(part)
            yield from stream.finish()
            self._attach(stream.report())
        finally:
            close = getattr(tokens, "close", None)
            if close is not None:
                close()

    async def _atokens(self, tokens: AsyncIterator[Any]) -> AsyncIterator[Any]:
        stream = AnswerStream(self.checker.stream_mode)
        structured: list[Any] = []

        async def checked(part: str) -> list[str]:
            try:
                (report,) = await self.checker.acheck([part], self._nodes, self.question, **self._how_in_stream)
            except HallucinationError as error:
                raise self._whole(stream, part, error) from None
            return stream.release(part, report)

        try:
            async for token in tokens:
                if not isinstance(token, str):
                    structured[:] = [token]
                    continue
                for leaving in stream.take(token):
                    yield leaving
                while not stream.stopped and (part := stream.due()) is not None:
                    for leaving in await checked(part):
                        yield leaving
                if stream.stopped:
                    break
            if structured:
                texts = [text for _, text in strings_in(structured[0])]
                how = self._how_in_stream
                reports = await self.checker.acheck(texts, self._nodes, self.question, **how) if texts else []
                yield self._write_fields(structured[0], reports) if reports else structured[0]
                return
            if not stream.stopped and (part := stream.rest()) is not None:
                for leaving in await checked(part):
                    yield leaving
            for leaving in stream.finish():
                yield leaving
            self._attach(stream.report())
        finally:
            close = getattr(tokens, "aclose", None)
            if close is not None:
                await close()

    def _whole(self, stream: AnswerStream, part: str, error: HallucinationError) -> HallucinationError:
        """The error of a part as an error of the answer so far."""
        stream.release(part, error.report)
        report = stream.report()
        self.checker.publish(report)
        return HallucinationError(report)


def block(response: Any, checker: Checker) -> None:
    """What is left to do when a check was cut off: the caller must not read an unchecked answer as checked."""
    if isinstance(response, Response):
        response.response = checker.core.block_message
    logger.error("a check was cut off; the answer was blocked")
