"""The same type out as in, with the report where there is a place for it."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda

from rag_guard import InvalidInputError, Report, UnsupportedDocumentError

BLOCKED = "I could not verify an answer in the provided documents."


def test_string_chain_returns_a_string_and_reports_through_the_callback(kit: Any, attach: Any) -> None:
    output = attach(kit.text_chain(), kit.guard()).invoke("q1")

    assert output == "Ticket q1 costs 999 euros."
    (report,) = kit.reports
    assert [span.text for span in report.spans] == ["999"]
    assert report.spans[0].evidence[0].quote in kit.text_about("q1")
    assert report.question == "q1"


async def test_blocked_string_is_replaced_in_every_way_to_run(kit: Any, attach: Any) -> None:
    chain = attach(kit.text_chain(), kit.guard(policy="block"))

    assert chain.invoke("q1") == BLOCKED
    assert await chain.ainvoke("q2") == BLOCKED
    assert chain.batch(["q3", "q4"]) == [BLOCKED, BLOCKED]
    assert await chain.abatch(["q5", "q6"]) == [BLOCKED, BLOCKED]
    assert list(chain.stream("q7")) == [BLOCKED]
    assert [chunk async for chunk in chain.astream("q8")] == [BLOCKED]
    kit.assert_own_documents([f"q{number}" for number in range(1, 9)])


def test_supported_answer_is_never_replaced(kit: Any, attach: Any) -> None:
    assert attach(kit.text_chain(lie=False), kit.guard(policy="block")).invoke("q1") == kit.text_about("q1")


def test_message_keeps_identity_usage_and_metadata_and_gains_the_report(kit: Any, attach: Any) -> None:
    message = attach(kit.message_chain(), kit.guard(policy="block")).invoke("q1")

    assert type(message) is AIMessage
    assert message.content == BLOCKED
    assert message.id
    assert message.usage_metadata["total_tokens"] == 3
    assert message.response_metadata["model"] == "ticket"
    record = message.response_metadata["rag_guard"]
    assert type(record) is dict
    assert (record["status"], record["action"], record["answer"]) == (
        "hallucinated",
        "blocked",
        "Ticket q1 costs 999 euros.",
    )


def test_content_blocks_are_read_as_one_text_and_other_blocks_survive(kit: Any) -> None:
    image = {"type": "image", "url": "https://example.org/a.png"}
    message = AIMessage(
        [
            {"type": "text", "text": "Ticket q1 costs ", "index": 0},
            image,
            {"type": "text", "text": "999 euros."},
        ]
    )
    value = {"context": kit.text_about("q1"), "answer": message}

    checked = kit.guard(policy="block").invoke(value)["answer"]

    assert kit.reports[0].answer == "Ticket q1 costs 999 euros."
    assert checked.content == [{"type": "text", "text": BLOCKED, "index": 0}, image]
    assert message.content[0]["text"] == "Ticket q1 costs "


def test_tool_call_is_no_final_answer(kit: Any) -> None:
    call = AIMessage("Let me look.", tool_calls=[{"name": "search", "args": {}, "id": "1"}])

    assert kit.guard(policy="block").invoke(call) is call
    assert kit.reports == []


def test_dict_keeps_its_keys_and_documents_and_gains_the_report(kit: Any, attach: Any) -> None:
    output = attach(kit.dict_chain(), kit.guard(policy="block")).invoke({"question": "q1"})

    assert list(output) == ["question", "context", "answer", "rag_guard"]
    assert output["answer"] == BLOCKED
    assert [type(document) for document in output["context"]] == [Document]
    assert output["rag_guard"]["answer"] == "Ticket q1 costs 999 euros."
    assert output["rag_guard"]["question"] == "q1"


@pytest.mark.parametrize("answer_key", ["answer", "output", "result", "response", "text", "generation"])
@pytest.mark.parametrize("context_key", ["context", "source_documents", "documents", "docs", "contexts"])
@pytest.mark.parametrize("question_key", ["question", "input", "query"])
def test_usual_key_names_are_recognised(kit: Any, answer_key: str, context_key: str, question_key: str) -> None:
    value = {
        question_key: "q1",
        context_key: [kit.text_about("q1")],
        answer_key: "Ticket q1 costs 999 euros.",
    }

    assert kit.guard(policy="block").invoke(value)[answer_key] == BLOCKED
    assert kit.reports[0].question == "q1"


def test_named_keys_win_and_a_missing_one_is_an_error_that_names_it(kit: Any) -> None:
    value = {"answer": "Hello.", "reply": "Ticket q1 costs 999 euros.", "passages": [kit.text_about("q1")]}
    guard = kit.guard(policy="block", answer_key="reply", context_key="passages", report_key="check")

    output = guard.invoke(value)

    assert (output["answer"], output["reply"]) == ("Hello.", BLOCKED)
    assert output["check"]["status"] == "hallucinated"
    with pytest.raises(InvalidInputError, match=r"answer_key='reply' .* \['passages'\]"):
        guard.invoke({"passages": []})


@pytest.mark.parametrize("value", [{"steps": 3}, {"answer": 42}, 7, HumanMessage("Ticket q1 costs 999 euros.")])
def test_value_without_an_answer_goes_through_unchanged_with_a_warning(kit: Any, value: Any) -> None:
    with pytest.warns(UserWarning, match="unchecked"):
        assert kit.guard(policy="block").invoke(value) is value
    assert kit.reports == []


@pytest.mark.parametrize(
    "context",
    [
        "{text}",
        ["{text}"],
        Document("{text}"),
        [Document("{text}")],
        [(Document("{text}"), 0.7)],
        {"shop": [Document("{text}")], "news": []},
        [{"page_content": "{text}", "metadata": {"page": 2}, "type": "Document"}],
    ],
    ids=["string", "strings", "document", "documents", "scored", "several-retrievers", "json"],
)
def test_context_is_read_from_every_usual_shape(kit: Any, context: Any) -> None:
    def filled(part: Any) -> Any:
        if isinstance(part, str):
            return part.replace("{text}", kit.text_about("q1"))
        if isinstance(part, Document):
            return Document(filled(part.page_content))
        if isinstance(part, dict):
            return {key: filled(value) for key, value in part.items()}
        return type(part)(filled(value) for value in part) if isinstance(part, (list, tuple)) else part

    kit.guard().invoke({"context": filled(context), "answer": "Ticket q1 costs 999 euros."})

    assert [document.text for document in kit.reports[0].documents] == [kit.text_about("q1")]
    assert kit.reports[0].spans[0].label == "contradicted"


def test_context_without_text_is_an_error_for_its_own_answer_only(kit: Any) -> None:
    good = {"context": [kit.text_about("q1")], "answer": kit.text_about("q1")}
    bad = {"context": [object()], "answer": "Ticket q2 costs 999 euros."}

    results = kit.guard().batch([good, bad], return_exceptions=True)

    assert results[0]["rag_guard"]["status"] == "supported"
    assert isinstance(results[1], UnsupportedDocumentError)


def test_report_in_the_output_is_plain_json_without_document_texts(kit: Any) -> None:
    document = Document(kit.text_about("q1"), id="t1", metadata={"odd": object()})
    value = {"context": [document], "answer": "Ticket q1 costs 999 euros."}

    record = kit.guard().invoke(value)["rag_guard"]

    json.dumps(record)
    assert record["documents"] == [{"id": "t1", "source": "retrieved"}]
    whole = kit.guard(include_documents=True).invoke(value)["rag_guard"]
    assert Report.model_validate(whole).documents[0].text == kit.text_about("q1")


def test_every_report_is_a_custom_event_of_the_run(kit: Any, attach: Any) -> None:
    class Listener(BaseCallbackHandler):
        def __init__(self) -> None:
            self.events: list[tuple[str, Any]] = []

        def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
            self.events.append((name, data))

    listener = Listener()
    attach(kit.text_chain(), kit.guard()).invoke("q1", {"callbacks": [listener]})

    ((name, record),) = listener.events
    assert (name, record["status"]) == ("rag_guard", "hallucinated")


async def test_event_stream_ends_with_the_checked_answer(kit: Any, attach: Any) -> None:
    chain = attach(kit.text_chain(), kit.guard(policy="block"))

    events = [event async for event in chain.astream_events("q1", version="v2")]

    ends = [e["data"]["output"] for e in events if e["event"] == "on_chain_end" and not e["parent_ids"]]
    assert ends == [BLOCKED]
    custom = [e["data"]["action"] for e in events if e["event"] == "on_custom_event" and e["name"] == "rag_guard"]
    assert custom == ["blocked"]


def test_broken_report_callback_does_not_break_the_chain(kit: Any, caplog: pytest.LogCaptureFixture) -> None:
    def broken(report: Report) -> None:
        raise RuntimeError("no disk left")

    guard = kit.guard()
    guard.on_report = broken

    assert (kit.text_chain() | guard).invoke("q1") == "Ticket q1 costs 999 euros."
    assert "on_report failed" in caplog.text


def test_guard_inside_assign_checks_only_its_branch(kit: Any) -> None:
    from langchain_core.runnables import RunnablePassthrough

    branch = RunnableLambda(lambda state: state["question"]) | kit.text_chain() | kit.guard(policy="block")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        output = RunnablePassthrough.assign(answer=branch).invoke({"question": "q1"})

    assert output == {"question": "q1", "answer": BLOCKED}
