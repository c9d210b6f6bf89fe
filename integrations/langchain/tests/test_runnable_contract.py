"""A guard is a runnable like any other: graph, schemas, configuration, serialisation, imports."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

from langchain_core.load import dumpd
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough

from langchain_rag_guard import GuardedChain, HallucinationGuard


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_graph_names_the_guard(kit: Any, attach: Any) -> None:
    graph = attach(kit.text_chain(), kit.guard()).get_graph()

    assert any(node.name == "HallucinationGuard" for node in graph.nodes.values())
    assert len(graph.nodes) > 4
    assert "HallucinationGuard" in graph.draw_mermaid()


def test_wrapped_chain_has_the_schemas_of_the_chain(kit: Any) -> None:
    chain = kit.dict_chain()
    wrapped = kit.guard().wrap(chain)

    assert isinstance(wrapped, GuardedChain)
    assert wrapped.get_input_schema().model_json_schema() == chain.get_input_schema().model_json_schema()
    assert wrapped.get_output_schema().model_json_schema() == chain.get_output_schema().model_json_schema()
    assert wrapped.config_specs == chain.config_specs


def test_wrap_takes_what_langchain_takes_for_a_runnable(kit: Any) -> None:
    assert kit.guard().wrap(lambda query: f"Hello {query}.").invoke("q1") == "Hello q1."


def test_wrapped_chain_composes_and_keeps_configuration(kit: Any) -> None:
    seen = []

    def note(text: str, config: Any) -> str:
        seen.append((config["tags"], config["metadata"].get("user")))
        return text

    chain = kit.guard().wrap(kit.text_chain() | RunnableLambda(note)).with_config(tags=["shop"]) | str.upper

    assert chain.invoke("q1", {"metadata": {"user": "u1"}}) == "TICKET Q1 COSTS 999 EUROS."
    ((tags, user),) = seen
    assert "shop" in tags
    assert user == "u1"


def test_keyword_arguments_reach_the_wrapped_chain(kit: Any) -> None:
    def answer(query: str, *, polite: bool = False) -> str:
        return "Please, dear friend." if polite else "No."

    wrapped = kit.guard().wrap(RunnableLambda(answer))

    assert wrapped.invoke("q1", polite=True) == "Please, dear friend."
    assert wrapped.batch(["q1"], polite=True) == ["Please, dear friend."]


def test_wrap_needs_no_process_wide_handler() -> None:
    code = """
from langchain_core.tracers import context
from langchain_core.retrievers import BaseRetriever
from langchain_core.documents import Document
class One(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document("Ticket q1 costs 17 euros.")]
before = len(context._configure_hooks)
from langchain_rag_guard import HallucinationGuard
assert len(context._configure_hooks) == before, "registered on import"
reports = []
guard = HallucinationGuard("fast", autocapture=False, on_report=reports.append)
guard.wrap(One() | (lambda found: "Ticket q1 costs 999 euros.")).invoke("q1")
assert len(context._configure_hooks) == before, "registered by wrap"
HallucinationGuard("fast"); HallucinationGuard("fast")
print(reports[0].status.value, len(context._configure_hooks) - before)
"""
    assert run_python(code) == "hallucinated 1"


def test_import_brings_no_torch_and_no_other_framework() -> None:
    code = """
import sys, langchain_rag_guard
print(sorted(set(sys.modules) & {"torch", "transformers", "langchain", "langgraph", "llama_index", "spacy"}))
"""
    assert run_python(code) == "[]"


def test_guard_is_dumped_as_not_serialisable_and_never_with_its_detectors(kit: Any) -> None:
    dumped = dumpd(kit.text_chain() | kit.guard())

    assert dumped["kwargs"]["last"]["type"] == "not_implemented"


def test_guards_survive_pickle(kit: Any) -> None:
    wrapped: Runnable[Any, Any] = HallucinationGuard("fast", policy="block").wrap(RunnablePassthrough())

    copied = pickle.loads(pickle.dumps(wrapped))

    value = {"context": kit.text_about("q1"), "answer": "Ticket q1 costs 999 euros."}
    assert copied.invoke(value)["answer"].startswith("I could not verify")


def test_unpickled_guard_sees_documents_in_a_new_process() -> None:
    data = pickle.dumps(HallucinationGuard("fast"))
    code = f"""
import pickle
from langchain_core.tracers import context
before = len(context._configure_hooks)
guard = pickle.loads({data!r})
print(len(context._configure_hooks) - before)
"""
    assert run_python(code) == "1"


def test_two_guards_in_a_row_both_report(kit: Any) -> None:
    first, second = kit.guard(report_key="first"), kit.guard(policy="block", report_key="second")
    chain = kit.dict_chain() | first | second

    output = chain.invoke({"question": "q1"})

    assert (output["first"]["action"], output["second"]["action"]) == ("reported", "blocked")
    chunks = list(chain.stream({"question": "q1"}))
    assert [chunk["answer"] for chunk in chunks if "answer" in chunk] == [output["answer"]]
