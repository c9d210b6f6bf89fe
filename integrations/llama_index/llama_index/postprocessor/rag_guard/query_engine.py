"""A guarded query engine around any other: its errors reach the caller, and detection stays off the event loop."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks import CallbackManager
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.postprocessor.rag_guard.base import HallucinationGuard, as_guard
from llama_index.postprocessor.rag_guard.links import retrievals
from llama_index.postprocessor.rag_guard.responses import Task

from rag_guard import HallucinationGuard as CoreGuard

_SUB_ANSWER = re.compile(r"\s*Sub question: .*\nResponse: ", re.DOTALL)
"""How SubQuestionQueryEngine writes down what its engines answered."""


class GuardedQueryEngine(BaseQueryEngine):
    """Answers with another query engine and checks its answers, whatever that engine is made of.

    For engines without postprocessors too (routers, sub-questions, custom ones): where a response has no source
    nodes, the nodes retrieved during the query stand in. Responses keep their type; streams are checked while they
    are read. Attributes of the other engine, such as its ``retriever``, are forwarded.

    Args:
        query_engine: the engine that answers.
        guard: a :class:`HallucinationGuard` of this package, or what makes one.
        callback_manager: default: the other engine's.
        **options: arguments of :class:`HallucinationGuard`; with a ``guard``, what to change in it.

    Raises:
        InvalidInputError: an argument has a value that cannot be used.
        HallucinationError: from queries, or from reading their streams, under ``policy="raise"``.
    """

    def __init__(
        self,
        query_engine: BaseQueryEngine,
        guard: HallucinationGuard | CoreGuard | str | None = None,
        *,
        callback_manager: CallbackManager | None = None,
        **options: Any,
    ) -> None:
        self._query_engine = query_engine
        self._guard = as_guard(guard, options)
        super().__init__(callback_manager or getattr(query_engine, "callback_manager", None))

    @property
    def guard(self) -> HallucinationGuard:
        """The guard that checks the answers."""
        return self._guard

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"query_engine": self._query_engine}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._query_engine, name)

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._query_engine.retrieve(query_bundle)

    def synthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        response = self._query_engine.synthesize(query_bundle, nodes, additional_source_nodes)
        return self._task(response, query_bundle, ()).run()  # type: ignore[no-any-return]

    async def asynthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        response = await self._query_engine.asynthesize(query_bundle, nodes, additional_source_nodes)
        return await self._task(response, query_bundle, ()).arun()  # type: ignore[no-any-return]

    # query() and not _query(): an engine may override either of the two.
    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        with retrievals() as retrieved:
            response = self._query_engine.query(query_bundle)
        return self._task(response, query_bundle, retrieved).run()  # type: ignore[no-any-return]

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        with retrievals() as retrieved:
            response = await self._query_engine.aquery(query_bundle)
        return await self._task(response, query_bundle, retrieved).arun()  # type: ignore[no-any-return]

    def _task(self, response: Any, query_bundle: QueryBundle, retrieved: Sequence[NodeWithScore]) -> Task:
        nodes = _evidence(getattr(response, "source_nodes", None) or (), retrieved)
        return Task(self._guard.checker, response, query_bundle.query_str, nodes=nodes, strict=True)


def _evidence(sources: Sequence[NodeWithScore], retrieved: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """A response's sources, else what was retrieved; a sub-answer is a model's word and no evidence."""
    found = {node.node.node_id for node in retrieved}
    read = [node for node in sources if node.node.node_id in found or not _SUB_ANSWER.match(node.node.get_content())]
    if read:
        return read
    distinct = {node.node.node_id: node for node in retrieved}
    return list(distinct.values()) or list(sources)
