"""Chains from before LCEL: their usual keys are known, and memories keep the checked answer."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory

BLOCKED = "I could not verify an answer in the provided documents."


class Shop(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document("Ticket q1 costs 20 euros.")]


def model() -> Any:
    return GenericFakeChatModel(messages=iter([AIMessage("Ticket q1 costs 999 euros.")] * 9))


def test_create_retrieval_chain(kit: Any, attach: Any) -> None:
    chains = pytest.importorskip("langchain_classic.chains")
    combine = pytest.importorskip("langchain_classic.chains.combine_documents")
    prompt = ChatPromptTemplate.from_messages([("system", "Context: {context}"), ("human", "{input}")])
    chain = chains.create_retrieval_chain(Shop(), combine.create_stuff_documents_chain(model(), prompt))
    guarded = attach(chain, kit.guard(policy="block"))

    output = guarded.invoke({"input": "What does q1 cost?"})

    assert list(output) == ["input", "context", "answer", "rag_guard"]
    assert output["answer"] == BLOCKED
    assert kit.reports[0].question == "What does q1 cost?"
    assert [chunk["answer"] for chunk in guarded.stream({"input": "q1"}) if "answer" in chunk] == [BLOCKED]


@pytest.mark.parametrize("with_sources", [True, False])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_retrieval_qa(kit: Any, attach: Any, with_sources: bool) -> None:
    chains = pytest.importorskip("langchain_classic.chains")
    chain = chains.RetrievalQA.from_chain_type(model(), retriever=Shop(), return_source_documents=with_sources)

    output = attach(chain, kit.guard(policy="block")).invoke({"query": "What does q1 cost?"})

    assert output["result"] == BLOCKED
    assert [document.text for document in kit.reports[0].documents] == ["Ticket q1 costs 20 euros."]
    assert kit.reports[0].question == "What does q1 cost?"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_conversational_retrieval_chain(kit: Any, attach: Any) -> None:
    chains = pytest.importorskip("langchain_classic.chains")
    chain = chains.ConversationalRetrievalChain.from_llm(model(), retriever=Shop())

    output = attach(chain, kit.guard(policy="block")).invoke({"question": "What does q1 cost?", "chat_history": []})

    assert output["answer"] == BLOCKED
    assert [document.text for document in kit.reports[0].documents] == ["Ticket q1 costs 20 euros."]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_history_outside_the_guard_stores_the_checked_answer(kit: Any, attach: Any) -> None:
    history = InMemoryChatMessageHistory()
    prompt = ChatPromptTemplate.from_messages(
        [("system", "{context}"), MessagesPlaceholder("history"), ("human", "{question}")]
    )
    context = RunnableLambda(lambda state: state["question"]) | Shop() | kit.joined
    chain = RunnablePassthrough.assign(context=context) | prompt | model() | StrOutputParser()
    remembering = RunnableWithMessageHistory(
        attach(chain, kit.guard(policy="block")),
        lambda session_id: history,
        input_messages_key="question",
        history_messages_key="history",
    )

    output = remembering.invoke({"question": "What does q1 cost?"}, {"configurable": {"session_id": "1"}})

    assert output == BLOCKED
    assert [message.content for message in history.messages] == ["What does q1 cost?", BLOCKED]
