"""A guard around a whole chain, with a recorder of its own for every call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.config import merge_configs
from langchain_core.runnables.graph import Graph
from langchain_core.runnables.utils import ConfigurableFieldSpec
from pydantic import ConfigDict

from langchain_rag_guard.capture import Captured, RunRecorder
from langchain_rag_guard.runnable import HallucinationGuard, Outcome, just, only
from langchain_rag_guard.values import question_in


class GuardedChain(RunnableSerializable[Any, Any]):
    """``HallucinationGuard().wrap(chain)``: the chain and its check as one runnable, with the chain's own
    schemas."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    bound: Runnable[Any, Any]
    step: HallucinationGuard

    @property
    def InputType(self) -> Any:
        return self.bound.InputType

    @property
    def OutputType(self) -> Any:
        return self.bound.OutputType

    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        return self.bound.get_input_schema(config)

    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        return self.bound.get_output_schema(config)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        return self.bound.config_specs

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        return (self.bound | self.step).get_graph(config)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        def run(value: Any, run_manager: Any, config: RunnableConfig) -> Any:
            recording = _Recording(run_manager, value)
            output = self.bound.invoke(value, recording.config(config), **kwargs)
            return only(self.step.check_values([output], [run_manager], [recording]))

        return self._call_with_config(run, input, config)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        async def run(value: Any, run_manager: Any, config: RunnableConfig) -> Any:
            recording = _Recording(run_manager, value)
            output = await self.bound.ainvoke(value, recording.config(config), **kwargs)
            return only(await self.step.acheck_values([output], [run_manager], [recording]))

        return await self._acall_with_config(run, input, config)

    def batch(
        self,
        inputs: list[Any],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any | None,
    ) -> list[Any]:
        """The chain's own batch, then one check of all its answers, each against its own run's documents."""

        def run(values: list[Any], run_manager: list[Any], config: list[RunnableConfig]) -> list[Outcome]:
            recordings = [_Recording(manager, value) for manager, value in zip(run_manager, values, strict=True)]
            configs = [recording.config(one) for recording, one in zip(recordings, config, strict=True)]
            outputs = self.bound.batch(values, configs, return_exceptions=return_exceptions, **kwargs)
            return self.step.check_values(outputs, run_manager, recordings)

        return self._batch_with_config(run, inputs, config, return_exceptions=return_exceptions)

    async def abatch(
        self,
        inputs: list[Any],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any | None,
    ) -> list[Any]:
        """The chain's own batch, then one check of all its answers, each against its own run's documents."""

        async def run(values: list[Any], run_manager: list[Any], config: list[RunnableConfig]) -> list[Outcome]:
            recordings = [_Recording(manager, value) for manager, value in zip(run_manager, values, strict=True)]
            configs = [recording.config(one) for recording, one in zip(recordings, config, strict=True)]
            outputs = await self.bound.abatch(values, configs, return_exceptions=return_exceptions, **kwargs)
            return await self.step.acheck_values(outputs, run_manager, recordings)

        return await self._abatch_with_config(run, inputs, config, return_exceptions=return_exceptions)

    def transform(
        self, input: Iterator[Any], config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> Iterator[Any]:
        def run(chunks: Iterator[Any], run_manager: Any, config: RunnableConfig) -> Iterator[Any]:
            value: Any = None
            for chunk in chunks:
                value = _joined(value, chunk)
            recording = _Recording(run_manager, value)
            output = self.bound.stream(value, recording.config(config), **kwargs)
            yield from self.step.hold(output, run_manager, recording)

        yield from self._transform_stream_with_config(input, run, config)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None) -> Iterator[Any]:
        yield from self.transform(iter([input]), config, **kwargs)

    async def atransform(
        self, input: AsyncIterator[Any], config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> AsyncIterator[Any]:
        async def run(chunks: AsyncIterator[Any], run_manager: Any, config: RunnableConfig) -> AsyncIterator[Any]:
            value: Any = None
            async for chunk in chunks:
                value = _joined(value, chunk)
            recording = _Recording(run_manager, value)
            output = self.bound.astream(value, recording.config(config), **kwargs)
            async for checked in self.step.ahold(output, run_manager, recording):
                yield checked

        async for chunk in self._atransform_stream_with_config(input, run, config):
            yield chunk

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> AsyncIterator[Any]:
        async for chunk in self.atransform(just(input), config, **kwargs):
            yield chunk


class _Recording:
    """The recorder of one call of a guarded chain."""

    def __init__(self, run_manager: Any, value: Any) -> None:
        self._run_id = run_manager.run_id
        self._question = question_in(value)
        self._recorder = RunRecorder()
        self._recorder.open(self._run_id)

    def config(self, config: RunnableConfig) -> RunnableConfig:
        return merge_configs(config, {"callbacks": [self._recorder]})

    def __call__(self) -> Captured:
        return self._recorder.evidence(self._run_id, question=self._question)


def _joined(value: Any, chunk: Any) -> Any:
    """Input chunks added up as LangChain's own steps do: what does not add up replaces."""
    if value is None:
        return chunk
    try:
        return value + chunk
    except TypeError:
        return chunk
