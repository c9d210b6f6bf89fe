"""An agent with a query engine as its tool, whose final answer is checked against what the tool retrieved.

A model of 135 million parameters cannot decide to call a tool, so ``ToolFirst`` decides for it: look the question up,
then let the model write the answer from what was found.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.agent.workflow import AgentOutput, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata, MessageRole
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import QueryEngineTool
from llama_index.postprocessor.rag_guard import GuardAgentMixin, HallucinationGuard
from llama_index_station import QUESTIONS, load_index, load_llm, show

from rag_guard import Report


class ToolFirst(FunctionCallingLLM):
    """SmolLM2 with its first move made for it."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, is_chat_model=True)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        question = next(m.content or "" for m in reversed(messages) if m.role == MessageRole.USER)
        if messages[-1].role == MessageRole.USER:
            call = ToolSelection(tool_id="1", tool_name="manual", tool_kwargs={"input": question})
            message = ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [call]})
            return ChatResponse(message=message)
        request = f"The manual says: {messages[-1].content}\n\nAnswer in two sentences: {question}"
        return load_llm().chat([ChatMessage(role="user", content=request)])

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return await asyncio.to_thread(self.chat, messages)

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        return list(response.message.additional_kwargs.get("tool_calls", []))

    def _prepare_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: Any = None, *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        return {"messages": [*(chat_history or []), *([user_msg] if user_msg else [])]}

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return load_llm().complete(prompt)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return await asyncio.to_thread(self.complete, prompt)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return iter([self.chat(messages)])

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        async def whole() -> Any:
            yield await self.achat(messages)

        return whole()

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return iter([self.complete(prompt)])

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        async def whole() -> Any:
            yield await self.acomplete(prompt)

        return whole()


class GuardedAgent(GuardAgentMixin, FunctionAgent):
    pass


async def ask(question: str, policy: str) -> tuple[AgentOutput, ChatMemoryBuffer, Report]:
    reports: list[Report] = []
    engine = load_index().as_query_engine(llm=load_llm(), similarity_top_k=2)
    agent = GuardedAgent(
        tools=[QueryEngineTool.from_defaults(engine, name="manual", description="the weather station's manual")],
        llm=ToolFirst(),
        guard=HallucinationGuard(policy=policy, on_report=reports.append),
    )
    memory = ChatMemoryBuffer.from_defaults(token_limit=4000)
    output = await agent.run(user_msg=question, memory=memory)
    return output, memory, reports[-1]


def main(arguments: list[str] | None = None) -> tuple[AgentOutput, ChatMemoryBuffer, Report]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--question", default=QUESTIONS[0])
    parser.add_argument("--policy", default="repair")
    chosen = parser.parse_args(arguments)
    output, memory, report = asyncio.run(ask(chosen.question, chosen.policy))
    show(chosen.question, report)
    return output, memory, report


if __name__ == "__main__":
    main()
