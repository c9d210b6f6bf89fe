"""Agents with scripted tool calls: final answer, memory, retries, stream, arguments, and the check tool."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentOutput, AgentStream, AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata, MessageRole
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step
from llama_index.postprocessor.rag_guard import (
    GuardAgentMixin,
    GuardReportEvent,
    HallucinationGuard,
    check_answer_tool,
    check_tool_arguments,
)

from rag_guard import HallucinationError, Status

Script = Callable[[Sequence[ChatMessage]], ChatMessage]


class ScriptedLLM(FunctionCallingLLM):
    """A chat model that can call tools, and says what a function of the conversation says."""

    _script: Script = PrivateAttr()

    def __init__(self, script: Script) -> None:
        super().__init__()
        self._script = script

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, is_chat_model=True)

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        message = self._script(messages)
        return ChatResponse(message=message, delta=message.content or "")

    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return self.chat(messages)

    def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
        return iter([self.chat(messages)])

    async def astream_chat(self, messages: Any, **kwargs: Any) -> Any:
        async def pieces() -> AsyncIterator[ChatResponse]:
            message = self._script(messages)
            said = ""
            for word in (message.content or "").split(" "):
                delta = f" {word}" if said else word
                said += delta
                part = message.model_copy(deep=True)
                part.content = said
                yield ChatResponse(message=part, delta=delta)
            if not said:
                yield ChatResponse(message=message, delta="")

        return pieces()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=prompt)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=prompt)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return iter([self.complete(prompt)])

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise RuntimeError("agents chat")

    def _prepare_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: Any = None, *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        return {"messages": [*(chat_history or []), *([user_msg] if user_msg else [])]}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        return list(response.message.additional_kwargs.get("tool_calls", []))


def call(name: str, **arguments: Any) -> ChatMessage:
    selection = ToolSelection(tool_id=f"{name}-1", tool_name=name, tool_kwargs=arguments)
    return ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [selection]})


def say(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def asked(messages: Sequence[ChatMessage]) -> str:
    """The ticket that the last question of the user is about."""
    questions = [message.content or "" for message in messages if message.role == MessageRole.USER]
    return next(text for text in reversed(questions) if text.startswith("ticket ")).split()[-1]


def lying(kit: Any) -> Script:
    """Look the ticket up once, then lie; once told so, tell the truth."""

    def script(messages: Sequence[ChatMessage]) -> ChatMessage:
        query = asked(messages)
        if not any(message.role == MessageRole.TOOL and query in (message.content or "") for message in messages):
            return call("kb", input=query)
        corrected = "UNSUPPORTED" in (messages[-1].content or "")
        return say(kit.truth(query) if corrected else kit.lie(query))

    return script


class Agent(GuardAgentMixin, FunctionAgent):
    pass


class Reasoner(GuardAgentMixin, ReActAgent):
    pass


def knowledge(kit: Any, delay: float = 0.0) -> QueryEngineTool:
    return QueryEngineTool.from_defaults(kit.engine(honest=True, delay=delay), name="kb", description="tickets")


def agent(kit: Any, guard: HallucinationGuard, **options: Any) -> Agent:
    options = {"tools": [knowledge(kit)], "llm": ScriptedLLM(lying(kit)), **options}
    return Agent(guard=guard, **options)


async def run(runner: Any, query: str = "ticket q1") -> tuple[Any, list[Any], list[ChatMessage]]:
    memory = ChatMemoryBuffer.from_defaults(token_limit=4000)
    handler = runner.run(user_msg=query, memory=memory)
    events = [event async for event in handler.stream_events()]
    return await handler, events, memory.get_all()


@contextmanager
def raises_hallucination() -> Iterator[None]:
    """Older workflows wrap what a step raises."""
    with pytest.raises(Exception, match="do not support") as caught:
        yield
    assert HallucinationError in (type(caught.value), type(caught.value.__cause__))


def streamed(events: list[Any]) -> list[str]:
    return [event.delta for event in events if isinstance(event, AgentStream) and event.delta]


async def test_final_answer_memory_stream_and_report(kit: Any) -> None:
    output, events, memory = await run(agent(kit, kit.guard()))

    assert str(output) == kit.BLOCKED
    assert [message.role.value for message in memory] == ["user", "assistant", "tool", "assistant"]
    assert memory[-1].content == kit.BLOCKED
    assert streamed(events) == [kit.BLOCKED]
    (event,) = [event for event in events if isinstance(event, GuardReportEvent)]
    assert event.report["action"] == "blocked"
    assert event.report["spans"][0]["evidence"][0]["node_id"] == "node-q1"
    assert output.rag_guard == event.report
    assert json.dumps(event.report)
    kit.assert_own_documents(["q1"])


async def test_supported_answers_stream_word_by_word(kit: Any) -> None:
    def script(messages: Sequence[ChatMessage]) -> ChatMessage:
        return lying(kit)([*messages, ChatMessage(role="user", content="UNSUPPORTED")])

    output, events, _ = await run(agent(kit, kit.guard(), llm=ScriptedLLM(script)))

    assert str(output) == "".join(streamed(events)) == kit.truth("q1")
    assert len(streamed(events)) == len(kit.truth("q1").split())


STREAMING = [True, False] if "streaming" in FunctionAgent.model_fields else [True]  # llama-index-core 0.13 always does


@pytest.mark.parametrize("streaming", STREAMING)
async def test_retry_with_feedback_leaves_no_draft(kit: Any, streaming: bool) -> None:
    output, events, memory = await run(
        agent(kit, kit.guard(), guard_max_retries=1, **({} if streaming else {"streaming": False}))
    )

    assert str(output) == kit.truth("q1")
    assert [message.role.value for message in memory] == ["user", "assistant", "tool", "assistant"]
    assert "".join(streamed(events)) == (kit.truth("q1") if streaming else "")
    assert [report.status for report in kit.reports] == [Status.SUPPORTED]


async def test_retries_used_up_leave_it_to_the_policy(kit: Any) -> None:
    stubborn = ScriptedLLM(
        lambda messages: (
            say(kit.lie("q1")) if any(m.role == MessageRole.TOOL for m in messages) else call("kb", input="q1")
        )
    )

    output, _, memory = await run(agent(kit, kit.guard(), guard_max_retries=2, llm=stubborn))
    assert str(output) == memory[-1].content == kit.BLOCKED
    assert len(memory) == 4
    with raises_hallucination():
        await run(agent(kit, kit.guard(policy="raise"), guard_max_retries=1, llm=stubborn))


async def test_raise_fails_the_run_and_memory_has_no_answer(kit: Any) -> None:
    memory = ChatMemoryBuffer.from_defaults(token_limit=4000)

    with raises_hallucination():
        await agent(kit, kit.guard(policy="raise")).run(user_msg="ticket q1", memory=memory)

    assert all("999" not in (message.content or "") for message in memory.get_all())


async def test_the_draft_can_be_let_through(kit: Any) -> None:
    output, events, _ = await run(agent(kit, kit.guard(), guard_hold_stream=False))

    assert str(output) == kit.BLOCKED
    assert "".join(streamed(events)) == kit.lie("q1")


@pytest.mark.parametrize("kind", ["retriever", "function"])
async def test_evidence_of_other_tools(kit: Any, kind: str) -> None:
    def look_up(input: str) -> str:
        """Look a ticket up."""
        return str(kit.truth(input.strip()))

    tool: Any = FunctionTool.from_defaults(look_up, name="kb")
    if kind == "retriever":
        tool = RetrieverTool.from_defaults(kit.Retriever(), name="kb", description="tickets")

    output, _, _ = await run(agent(kit, kit.guard(), tools=[tool]))

    assert str(output) == kit.BLOCKED
    sources = {document.source for document in kit.reports[0].documents}
    assert sources == {"tool" if kind == "function" else "retrieved"}


async def test_an_answer_without_any_tool_is_unchecked(kit: Any) -> None:
    output, _, _ = await run(agent(kit, kit.guard(), llm=ScriptedLLM(lambda messages: say(kit.lie("q1")))))

    assert str(output) == kit.lie("q1")
    assert output.rag_guard["status"] == "no_context"


async def test_twelve_runs_of_one_agent(kit: Any) -> None:
    one = agent(kit, kit.guard(), tools=[knowledge(kit, 0.02)], guard_max_retries=1)

    outputs = await asyncio.gather(*(one.run(user_msg=f"ticket q{number}") for number in range(12)))

    assert [str(output) for output in outputs] == [kit.truth(f"q{number}") for number in range(12)]
    kit.assert_own_documents([f"q{number}" for number in range(12)])


async def test_evidence_is_of_this_turn(kit: Any) -> None:
    one, memory = agent(kit, kit.guard()), ChatMemoryBuffer.from_defaults(token_limit=4000)
    from llama_index.core.workflow import Context

    context: Any = Context(one)
    for query in ("q1", "q2"):
        await one.run(user_msg=f"ticket {query}", ctx=context, memory=memory)

    kit.assert_own_documents(["q1", "q2"])


async def test_agent_workflow(kit: Any) -> None:
    one = agent(kit, kit.guard(), guard_max_retries=1, name="clerk", description="sells tickets")

    output, _, memory = await run(AgentWorkflow(agents=[one], root_agent="clerk"))

    assert str(output) == memory[-1].content == kit.truth("q1")


async def test_arun_guards_a_workflow_that_builds_its_own_agent(kit: Any) -> None:
    workflow = AgentWorkflow.from_tools_or_functions([knowledge(kit)], llm=ScriptedLLM(lying(kit)))
    memory = ChatMemoryBuffer.from_defaults(token_limit=4000)

    output = await kit.guard().arun(workflow, "ticket q1", memory=memory)

    assert isinstance(output, AgentOutput)
    assert str(output) == memory.get_all()[-1].content == kit.BLOCKED
    assert output.rag_guard["spans"][0]["text"] == "999"
    kit.assert_own_documents(["q1"])


async def test_arun_raises_and_cleans_the_memory(kit: Any) -> None:
    plain = FunctionAgent(tools=[knowledge(kit)], llm=ScriptedLLM(lying(kit)))
    memory = ChatMemoryBuffer.from_defaults(token_limit=4000)

    with pytest.raises(HallucinationError):
        await kit.guard(policy="raise").arun(plain, "ticket q1", memory=memory)

    assert memory.get_all()[-1].content == kit.BLOCKED


def reasoning(kit: Any) -> Any:
    class ReasoningLLM(kit.Model):  # type: ignore[name-defined,misc]
        def answer(self, prompt: str) -> str:
            conversation = prompt.split("Current Conversation")[-1]
            if kit.truth("q1") not in conversation:
                return 'Thought: I need to use a tool.\nAction: kb\nAction Input: {"input": "q1"}'
            text = kit.truth("q1") if "UNSUPPORTED" in conversation else kit.lie("q1")
            return f"Thought: I can answer without using any more tools.\nAnswer: {text}"

    return ReasoningLLM()


@pytest.mark.parametrize("retries", [0, 1])
async def test_react_agent(kit: Any, retries: int) -> None:
    def kb(input: str) -> str:
        """Look a ticket up."""
        return str(kit.truth(input))

    one = Reasoner(
        tools=[FunctionTool.from_defaults(kb)], llm=reasoning(kit), guard=kit.guard(), guard_max_retries=retries
    )

    output, events, memory = await run(one)

    wanted = kit.truth("q1") if retries else kit.BLOCKED
    assert str(output) == wanted
    kept = memory[-1].content or ""
    assert kept.endswith(f"Answer: {wanted}")
    assert "999" not in kept
    assert "UNSUPPORTED" not in kept
    assert "999" not in "".join(streamed(events))


async def test_check_answer_tool(kit: Any) -> None:
    def script(messages: Sequence[ChatMessage]) -> ChatMessage:
        results = [message for message in messages if message.role == MessageRole.TOOL]
        if not results:
            return call("kb", input="q1")
        if len(results) == 1:
            return call("check_answer", draft=kit.lie("q1"))
        return say(f"checker: {results[-1].content}")

    tool = check_answer_tool("fast", on_report=kit.reports.append)
    plain = FunctionAgent(tools=[knowledge(kit), tool], llm=ScriptedLLM(script))

    output, _, _ = await run(plain)

    assert 'UNSUPPORTED parts of the draft:\n- "999" is contradicted' in str(output)
    assert list(tool.metadata.get_parameters_dict()["properties"]) == ["draft"]
    kit.assert_own_documents(["q1"])


def test_tool_arguments_come_from_somewhere(kit: Any) -> None:
    said = "Please refund order 12345 for Maria Lopez, 40 euros."

    reports = check_tool_arguments(
        kit.guard(),
        {"order": 12345, "customer": {"name": "Maria Lopez", "city": "Paris"}, "amounts": [40.0, 75], "urgent": True},
        said,
    )

    assert {path: report.status.value for path, report in reports.items()} == {
        "order": "supported",
        "customer.name": "supported",
        "customer.city": "hallucinated",
        "amounts.0": "supported",
        "amounts.1": "hallucinated",
    }


def refunding(kit: Any, calls: list[int], **options: Any) -> Agent:
    def refund(order: int) -> str:
        """Refund an order."""
        calls.append(order)
        return f"Order {order} is refunded."

    def script(messages: Sequence[ChatMessage]) -> ChatMessage:
        results = [message for message in messages if message.role == MessageRole.TOOL]
        if results:
            return say(results[-1].content or "")
        corrected = "UNSUPPORTED" in (messages[-1].content or "")
        return call("refund", order=12345 if corrected else 777)

    return Agent(
        tools=[FunctionTool.from_defaults(refund)], llm=ScriptedLLM(script), guard_tool_arguments=True, **options
    )


async def test_invented_arguments_follow_the_policy(kit: Any) -> None:
    question = "ticket refund for order 12345"
    calls: list[int] = []

    output, events, memory = await run(refunding(kit, calls, guard=kit.guard()), question)
    assert (calls, str(output), memory[-1].content) == ([], kit.BLOCKED, kit.BLOCKED)
    assert [event.argument for event in events if isinstance(event, GuardReportEvent)] == ["refund.order"]
    with raises_hallucination():
        await run(refunding(kit, calls, guard=kit.guard(policy="raise")), question)
    assert calls == []
    _, events, _ = await run(refunding(kit, calls, guard=kit.guard(policy="report")), question)
    assert calls == [777]
    assert "refund.order" in [event.argument for event in events if isinstance(event, GuardReportEvent)]
    calls.clear()
    output, _, _ = await run(refunding(kit, calls, guard=kit.guard(), guard_max_retries=1), question)
    assert (calls, str(output)) == ([12345], "Order 12345 is refunded.")


class Retrieved(Event):
    query: str
    nodes: list[Any]


class Draft(Event):
    query: str
    nodes: list[Any]
    text: str


async def test_a_step_of_a_workflow(kit: Any) -> None:
    from llama_index.postprocessor.rag_guard import node_documents

    guard = kit.guard()

    class Flow(Workflow):
        @step
        async def retrieve(self, ev: StartEvent) -> Retrieved:
            return Retrieved(query=ev.query, nodes=await kit.Retriever().aretrieve(ev.query))

        @step
        async def generate(self, ev: Retrieved) -> Draft:
            return Draft(query=ev.query, nodes=ev.nodes, text=kit.lie(ev.query))

        @step
        async def check(self, ev: Draft) -> StopEvent:
            report = await guard.guard.acheck(ev.text, node_documents(ev.nodes), ev.query)
            return StopEvent(result=report.output)

    assert await Flow().run(query="q1") == kit.BLOCKED
