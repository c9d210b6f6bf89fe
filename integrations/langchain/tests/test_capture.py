"""Which documents an answer is checked against: those that this run's model was shown, and no others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableBranch, RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.tools import create_retriever_tool

from langchain_rag_guard import HallucinationGuard, watch
from langchain_rag_guard.capture import RunRecorder
from rag_guard import UnsupportedDocumentError

LONG = (
    "The harbour ferry leaves the northern pier every forty minutes from six in the morning until ten at "
    "night, and tickets are sold on board by the crew, who take coins and cards but no large notes."
)


class Fixed(BaseRetriever):
    """Returns the same documents whatever is asked."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.documents


def texts(kit: Any, report: int = 0) -> list[str]:
    return [document.text for document in kit.reports[report].documents]


def sources(kit: Any, report: int = 0) -> set[str]:
    return {document.source for document in kit.reports[report].documents}


def ending(kit: Any) -> Any:
    """What follows the context step of a text chain."""
    return kit.PROMPT | kit.Model() | StrOutputParser()


def with_context(kit: Any, context: Any) -> Any:
    return {"context": context, "question": RunnablePassthrough()} | ending(kit)


def test_documents_in_the_value_win_over_the_run(kit: Any, attach: Any) -> None:
    chain = RunnablePassthrough.assign(answer=(lambda state: state["question"]) | kit.text_chain())

    attach(chain, kit.guard()).invoke({"question": "q1", "context": ["Something else altogether."]})

    assert texts(kit) == ["Something else altogether."]


def test_empty_context_in_the_value_means_no_context(kit: Any, attach: Any) -> None:
    chain = RunnablePassthrough.assign(answer=(lambda state: state["question"]) | kit.text_chain())

    attach(chain, kit.guard()).invoke({"question": "q1", "context": []})

    assert kit.reports[0].status.value == "no_context"


def test_only_the_outermost_retriever_counts(kit: Any, attach: Any) -> None:
    class Compressed(BaseRetriever):
        inner: BaseRetriever

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return self.inner.invoke(query, {"callbacks": run_manager.get_child()})[:1]

    inner = Fixed(documents=[Document("Ticket q1 costs 20 euros."), Document("Ticket q1 costs 999 euros.")])

    chain = Compressed(inner=inner) | (lambda documents: "Ticket q1 costs 999 euros.")

    attach(chain, kit.guard()).invoke("q1")

    assert texts(kit) == ["Ticket q1 costs 20 euros."]


def test_a_document_from_two_retrievers_counts_once(kit: Any, attach: Any) -> None:
    both = RunnableParallel(a=kit.Retriever(), b=kit.Retriever()) | (lambda found: kit.joined(found["a"]))

    attach(with_context(kit, both), kit.guard()).invoke("q1")

    assert texts(kit) == [kit.text_about("q1")]


def test_documents_dropped_before_the_prompt_are_no_evidence(kit: Any, attach: Any) -> None:
    kept, dropped = Document("Ticket q1 costs 20 euros."), Document("Ticket q1 costs 999 euros.")
    context = Fixed(documents=[kept, dropped]) | (lambda documents: documents[0].page_content)

    attach(with_context(kit, context), kit.guard()).invoke("q1")

    assert texts(kit) == [kept.page_content]
    assert [span.text for span in kit.reports[0].spans] == ["999"]


def test_a_document_cut_or_rewrapped_for_the_prompt_still_counts(kit: Any, attach: Any) -> None:
    context = Fixed(documents=[Document(LONG), Document("Ticket q1 costs 20 euros.")]) | (
        lambda found: found[0].page_content[:100].replace(" ", "\n ") + found[1].page_content
    )

    attach(with_context(kit, context), kit.guard()).invoke("q1")

    assert texts(kit) == [LONG, "Ticket q1 costs 20 euros."]


def test_documents_that_a_formatter_rewrote_are_kept(kit: Any, attach: Any) -> None:
    context = Fixed(documents=[Document("Ticket q1 costs 20 euros.")]) | (lambda found: "Q1: EUR 20")

    attach(with_context(kit, context), kit.guard()).invoke("q1")

    assert texts(kit) == ["Ticket q1 costs 20 euros."]


def test_documents_of_a_failed_attempt_are_no_evidence(kit: Any, attach: Any) -> None:
    attempts = []

    def stale_first(query: str) -> str:
        attempts.append(query)
        return "Ticket q1 costs 999 euros." if len(attempts) == 1 else kit.text_about(query)

    def fail_first(documents: Sequence[Document]) -> str:
        if len(attempts) == 1:
            raise ValueError("timeout")
        return "Ticket q1 costs 999 euros."

    chain = (watch(stale_first) | fail_first).with_retry(stop_after_attempt=2, wait_exponential_jitter=False)

    attach(chain, kit.guard()).invoke("q1")

    assert len(attempts) == 2
    assert texts(kit) == [kit.text_about("q1")]


def test_documents_come_in_the_order_of_the_prompt(kit: Any, attach: Any) -> None:
    found = [Document(LONG), Document("Ticket q1 costs 20 euros."), Document("Ticket q2 costs 30 euros.")]
    context = Fixed(documents=found) | (lambda documents: kit.joined(documents[::-1]))

    attach(with_context(kit, context), kit.guard()).invoke("q1")

    assert texts(kit) == [document.page_content for document in found[::-1]]


async def test_retriever_called_inside_a_function_is_seen(kit: Any, attach: Any) -> None:
    retriever = kit.Retriever()

    async def fetch(query: str) -> str:
        return kit.joined(await retriever.ainvoke(query))

    async def fetch_in_tasks(query: str) -> str:
        found = await asyncio.gather(retriever.ainvoke(query), asyncio.create_task(retriever.ainvoke(query + "b")))
        return kit.joined([document for documents in found for document in documents])

    async def fetch_in_thread(query: str) -> str:
        return kit.joined(await asyncio.to_thread(retriever.invoke, query))

    guard = kit.guard()
    attach(with_context(kit, RunnableLambda(lambda query: kit.joined(retriever.invoke(query)))), guard).invoke("q1")
    await attach(with_context(kit, RunnableLambda(fetch)), guard).ainvoke("q2")
    await attach(with_context(kit, RunnableLambda(fetch_in_tasks)), guard).ainvoke("q3")
    await attach(with_context(kit, RunnableLambda(fetch_in_thread)), guard).ainvoke("q4")

    assert [texts(kit, report) for report in range(4)] == [
        [kit.text_about("q1")],
        [kit.text_about("q2")],
        [kit.text_about("q3"), kit.text_about("q3b")],
        [kit.text_about("q4")],
    ]
    assert sources(kit) == {"retrieved"}


def test_retriever_tool_in_a_chain_is_seen(kit: Any, attach: Any) -> None:
    tool = create_retriever_tool(kit.Retriever(), "shop", "Finds tickets.")

    attach(with_context(kit, RunnableLambda(lambda query: tool.invoke({"query": query}))), kit.guard()).invoke("q1")

    assert texts(kit) == [kit.text_about("q1")]


def test_plain_search_function_is_read_from_the_prompt(kit: Any, attach: Any) -> None:
    attach(with_context(kit, RunnableLambda(kit.text_about)), kit.guard()).invoke("q1")

    assert texts(kit) == [kit.text_about("q1")]
    assert sources(kit) == {"prompt"}
    assert kit.reports[0].spans[0].evidence[0].source == "prompt"


def test_retriever_in_a_thread_without_context_is_read_from_the_prompt(kit: Any, attach: Any) -> None:
    def fetch(query: str) -> str:
        with ThreadPoolExecutor(1) as pool:
            return kit.joined(pool.submit(kit.Retriever().invoke, query).result())

    attach(with_context(kit, RunnableLambda(fetch)), kit.guard()).invoke("q1")

    assert texts(kit) == [kit.text_about("q1")]


def test_context_under_an_unusual_name_is_read_from_the_prompt(kit: Any, attach: Any) -> None:
    prompt = ChatPromptTemplate.from_template("Answer in {language} from this: {passages}\nQ: {question}")
    inputs = {
        "passages": lambda query: LONG,
        "language": lambda query: "Danish",
        "question": RunnablePassthrough(),
    }

    attach(inputs | prompt | kit.Model() | StrOutputParser(), kit.guard()).invoke("q1")

    assert texts(kit) == [LONG]


def test_prompt_without_a_template_is_evidence_where_it_holds_more_than_the_question(kit: Any, attach: Any) -> None:
    model = FakeListLLM(responses=["The ferry leaves every 55 minutes."])
    chain = RunnableLambda(lambda query: f"Context: {LONG}\nQuestion: {query}") | model

    attach(chain, kit.guard()).invoke("When does the ferry leave?")

    assert texts(kit) == [f"Context: {LONG}\nQuestion: When does the ferry leave?"]


@pytest.mark.parametrize(
    "prompt",
    [
        PromptTemplate.from_template(
            "Answer politely and in one sentence, as a friendly clerk would do it: {question}"
        ),
        ChatPromptTemplate.from_messages([("system", "Be polite to everybody, whatever they ask."), "{question}"]),
        RunnableLambda(lambda state: "Be polite. " + state["question"]),
    ],
    ids=["text-template", "chat-template", "no-template"],
)
def test_prompt_of_instructions_is_no_evidence(kit: Any, attach: Any, prompt: Any) -> None:
    chain = {"question": RunnablePassthrough()} | prompt | FakeListLLM(responses=["It was Napoleon in 1999."])

    attach(chain, kit.guard()).invoke("Who was it?")

    assert kit.reports[0].status.value == "no_context"


def test_earlier_answers_of_the_model_are_no_evidence(kit: Any, attach: Any) -> None:
    history = [HumanMessage("Who runs the ferry?"), AIMessage("Ticket q1 costs 999 euros. " * 5)]
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{context} {question}")])
    inputs = {
        "chat_history": lambda query: history,
        "context": lambda query: LONG,
        "question": RunnablePassthrough(),
    }

    attach(inputs | prompt | kit.Model() | StrOutputParser(), kit.guard()).invoke("q1")
    attach(RunnableLambda(lambda query: [*history, HumanMessage(LONG)]) | kit.Model(), kit.guard()).invoke("q1")

    assert texts(kit, 0) == [LONG]
    assert "Ticket q1 costs 999 euros." not in " ".join(texts(kit, 1))


def test_branch_without_retrieval_has_no_context_even_after_one_with(kit: Any, attach: Any) -> None:
    talk = RunnableLambda(lambda query: "Ticket q1 costs 999 euros.")
    branch = RunnableBranch((lambda query: query.startswith("q"), kit.text_chain()), talk)
    chain = attach(branch, kit.guard())

    chain.invoke("q1")
    chain.invoke("hello")
    chain.batch(["q2", "hello"])

    assert [report.status.value for report in kit.reports] == ["hallucinated", "no_context"] * 2


def test_parallel_guarded_chains_keep_apart(kit: Any, attach: Any) -> None:
    def part(name: str) -> Any:
        return RunnableLambda(lambda query: query + name) | attach(kit.text_chain(), kit.guard())

    RunnableParallel(a=part("a"), b=part("b")).invoke("q")

    kit.assert_own_documents(["qa", "qb"])


def test_second_chain_of_a_request_does_not_inherit_documents_its_model_was_not_shown(kit: Any) -> None:
    second = ChatPromptTemplate.from_template("Say something about {question}") | kit.Model() | StrOutputParser()
    chain = RunnablePassthrough.assign(a=(lambda state: state["q"]) | kit.text_chain() | kit.guard()) | {
        "b": RunnableLambda(lambda state: {"question": state["q"]}) | second | kit.guard()
    }

    chain.invoke({"q": "q1"})

    assert [report.status.value for report in kit.reports] == ["hallucinated", "no_context"]


def test_scope_parent_looks_no_further_than_the_own_sequence(kit: Any) -> None:
    silent = RunnableLambda(lambda query: "Ticket q1 costs 999 euros.")

    def chain(scope: str) -> Any:
        return RunnablePassthrough.assign(found=(lambda state: state["q"]) | kit.Retriever()) | {
            "b": (lambda state: state["q"]) | silent | kit.guard(scope=scope)
        }

    chain("nearest").invoke({"q": "q1"})
    chain("root").invoke({"q": "q1"})
    chain("parent").invoke({"q": "q1"})

    assert [texts(kit, 0), texts(kit, 1), texts(kit, 2)] == [
        [kit.text_about("q1")],
        [kit.text_about("q1")],
        [],
    ]


def test_retriever_before_the_guarded_sequence_is_found(kit: Any) -> None:
    inner = RunnableLambda(lambda state: state) | ending(kit) | kit.guard()
    outer = {"context": kit.Retriever() | kit.joined, "question": RunnablePassthrough()} | RunnableLambda(
        lambda state: inner.invoke(state)
    )

    outer.invoke("q1")

    assert texts(kit) == [kit.text_about("q1")]
    assert sources(kit) == {"retrieved"}


def test_without_autocapture_only_the_value_counts(kit: Any) -> None:
    (kit.text_chain() | kit.guard(autocapture=False)).invoke("q1")
    (kit.dict_chain() | kit.guard(autocapture=False)).invoke({"question": "q2"})

    assert [report.status.value for report in kit.reports] == ["no_context", "hallucinated"]


@pytest.mark.parametrize("run", ["invoke", "batch", "stream"])
def test_question_is_the_chains_own_input(kit: Any, attach: Any, run: str) -> None:
    chain = attach((lambda state: state["input"]) | kit.text_chain(), kit.guard())
    value = {"input": "q1", "chat_history": []}

    list(chain.stream(value)) if run == "stream" else chain.batch([value]) if run == "batch" else chain.invoke(value)

    assert kit.reports[0].question == "q1"


def test_watched_function_and_runnable_are_retrievers(kit: Any, attach: Any) -> None:
    def search(query: str) -> list[tuple[Document, float]]:
        return [(Document(kit.text_about(query)), 0.9)]

    guard = kit.guard()
    attach(with_context(kit, watch(search) | kit.joined), guard).invoke("q1")
    attach(with_context(kit, watch(RunnableLambda(kit.text_about)) | kit.joined), guard).invoke("q2")

    kit.assert_own_documents(["q1", "q2"])
    assert sources(kit, 0) == sources(kit, 1) == {"retrieved"}
    retriever = kit.Retriever()
    assert watch(retriever) is retriever


async def test_watched_coroutine_function_runs_in_async_chains_only(kit: Any, attach: Any) -> None:
    async def search(query: str) -> str:
        return kit.text_about(query)

    chain = attach(with_context(kit, watch(search) | kit.joined), kit.guard())

    await chain.ainvoke("q1")
    kit.assert_own_documents(["q1"])
    with pytest.raises(TypeError, match="ainvoke"):
        chain.invoke("q2")


def test_watched_function_must_return_documents() -> None:
    with pytest.raises(UnsupportedDocumentError, match="int at position 1"):
        watch(lambda query: ["text", 3]).invoke("q1")


def test_recorder_forgets_the_oldest_request_beyond_its_bound() -> None:
    from uuid import uuid4

    recorder = RunRecorder(max_trees=2)
    runs = [uuid4() for _ in range(3)]
    for run in runs:
        recorder.open(run)
        recorder.on_retriever_start(None, "q", run_id=(child := uuid4()), parent_run_id=run)
        recorder.on_retriever_end([Document(str(run))], run_id=child)

    assert recorder.evidence(runs[0]).documents == ()
    assert [document.text for document in recorder.evidence(runs[2]).documents] == [str(runs[2])]
    assert recorder.size == 4


def test_guard_alone_has_no_run_to_look_at(kit: Any) -> None:
    assert kit.guard().invoke("Ticket q1 costs 999 euros.") == "Ticket q1 costs 999 euros."
    assert kit.reports[0].status.value == "no_context"
    assert HallucinationGuard("fast").invoke("") == ""
