"""Make visible what retrieves documents without being a LangChain retriever."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import run_in_executor

from rag_guard import UnsupportedDocumentError


def watch(source: Callable[..., Any] | Runnable[Any, Any]) -> BaseRetriever:
    """``source`` as a retriever, so that its documents are seen by guards and tracers.

    For plain functions such as ``vectorstore.similarity_search``, coroutine functions, and runnables that
    return documents. A retriever is visible as it is and comes back unchanged.

    Args:
        source: takes a query; returns documents, strings, ``(document, score)`` pairs, or a list of these.

    Raises:
        UnsupportedDocumentError: when called, if ``source`` returned something else.
    """
    return source if isinstance(source, BaseRetriever) else WatchedRetriever(source=source)


class WatchedRetriever(BaseRetriever):
    """A retriever around any callable or runnable that returns documents."""

    source: Any

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        if isinstance(self.source, Runnable):
            return _as_documents(self.source.invoke(query, {"callbacks": run_manager.get_child()}, **kwargs))
        found = self.source(query, **kwargs)
        if inspect.isawaitable(found):
            if inspect.iscoroutine(found):
                found.close()
            raise TypeError(f"{self.source!r} is asynchronous; call the chain with ainvoke, abatch or astream")
        return _as_documents(found)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        if isinstance(self.source, Runnable):
            config = {"callbacks": run_manager.get_child()}
            return _as_documents(await self.source.ainvoke(query, config, **kwargs))  # type: ignore[arg-type]
        if inspect.iscoroutinefunction(self.source):
            return _as_documents(await self.source(query, **kwargs))
        return _as_documents(await run_in_executor(None, self.source, query, **kwargs))


def _as_documents(found: Any) -> list[Document]:
    items = found if isinstance(found, (list, tuple)) and not _is_scored(found) else [found]
    documents = []
    for position, item in enumerate(items):
        document = item[0] if _is_scored(item) else item
        if isinstance(document, str):
            document = Document(document)
        if not isinstance(document, Document):
            raise UnsupportedDocumentError(
                f"the watched function returned {type(document).__qualname__} at position {position}; "
                "it must return LangChain documents, strings, or (document, score) pairs"
            )
        documents.append(document)
    return documents


def _is_scored(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], (int, float))
