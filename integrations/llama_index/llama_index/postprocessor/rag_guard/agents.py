"""Final answers of agents, checked against what their tools returned in the same run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.agent.react.types import ObservationReasoningStep, ResponseReasoningStep
from llama_index.core.agent.workflow import AgentOutput, AgentStream, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.memory import BaseMemory
from llama_index.core.workflow import Event
from llama_index.postprocessor.rag_guard.base import HallucinationGuard, as_guard
from llama_index.postprocessor.rag_guard.checking import Checker
from llama_index.postprocessor.rag_guard.evidence import Sources
from llama_index.postprocessor.rag_guard.responses import Task
from llama_index.postprocessor.rag_guard.tools import acheck_tool_arguments, tool_sources, verdict_text
from pydantic import BaseModel, Field, field_validator

from rag_guard import Document, HallucinationError, Report, Status

_FEEDBACK = "{verdict}\nAnswer again, using only what the tools returned."


class GuardReportEvent(Event):
    """The verdict on a final answer or on a tool's arguments, in the agent's event stream.

    Attributes:
        report: the report as a plain dict.
        agent: the agent's name.
        argument: the argument that the report is about, as ``tool.path``; None for the final answer.
    """

    report: dict[str, Any]
    agent: str = ""
    argument: str | None = None


class GuardAgentMixin(BaseModel):
    """For a class of your own: ``class MyAgent(GuardAgentMixin, FunctionAgent)``, or ``ReActAgent``.

    Before an answer becomes final it is checked against the results of this run's tools. The answer that the policy
    leaves is the one in the output, in memory and in the stream; the report is a :class:`GuardReportEvent` in the
    stream and the output's attribute ``rag_guard``.

    Attributes:
        guard: a :class:`HallucinationGuard`, or what makes one. ``policy="raise"`` fails the run.
        guard_max_retries: how often the model is told what is unsupported and asked again before the policy decides.
            Draft and feedback do not stay in memory.
        guard_hold_stream: whether ``AgentStream`` events wait for the check; a changed answer is then one event.
        guard_tool_arguments: whether to check the arguments of tool calls too, of all tools or of those named. What
            neither the user nor a tool has said is reported, or, under the other policies, keeps the tool from being
            called.
    """

    guard: HallucinationGuard = Field(default_factory=HallucinationGuard, exclude=True)
    guard_max_retries: int = Field(default=0, ge=0)
    guard_hold_stream: bool = True
    guard_tool_arguments: bool | tuple[str, ...] = False

    @field_validator("guard", mode="before")
    @classmethod
    def _as_guard(cls, value: Any) -> HallucinationGuard:
        return as_guard(value, {})

    async def take_step(self, ctx: Any, llm_input: list[ChatMessage], tools: Any, memory: BaseMemory) -> AgentOutput:
        checker = self.guard.checker
        history = _History(self, ctx)
        before = len(await history.read())
        sources = tool_sources(await ctx.store.get("current_tool_calls", default=[]))
        question = await ctx.store.get("user_msg_str", default=None)
        attempt = 0
        while True:
            stream = _HeldStream(ctx) if self.guard_hold_stream else ctx
            output: AgentOutput = await super().take_step(stream, llm_input, tools, memory)  # type: ignore[misc]
            steps = await history.read()
            failed: HallucinationError | None = None
            argument: str | None = None
            answer = _answer(output, steps)
            if output.tool_calls:
                argument, report = await self._check_arguments(ctx, output, llm_input, sources)
                if report is not None and checker.core.policy == "raise":
                    failed = HallucinationError(report.model_copy(update={"action": "raised"}))
            elif output.retry_messages or not answer.strip():
                report = None
            else:
                try:
                    (report,) = await checker.acheck([answer], sources, question, strict=True)
                except HallucinationError as error:
                    report, failed = error.report, error
            wrong = report is not None and report.status is Status.HALLUCINATED
            blocks = argument is None or checker.core.policy != "report"
            if report is None or not wrong or not blocks or attempt >= self.guard_max_retries:
                break
            attempt += 1
            await history.write([*steps, history.feedback(_FEEDBACK.format(verdict=verdict_text(report)))])
        if attempt:
            # Every draft and the feedback to it; what came last is what counts.
            steps = steps[:before] + steps[before + 2 * attempt :]
            await history.write(steps)
        if report is not None:
            checker.publish(report)
        if failed is not None:
            raise failed
        if report is not None:
            if argument is not None and wrong and checker.core.policy != "report":
                report = report.model_copy(update={"action": "blocked"})
                _cancel_calls(output, steps, checker.core.block_message)
                await history.write(steps)
            elif argument is None and report.output != answer:
                _replace(output, steps, report.output)
                await history.write(steps)
            self._tell(ctx, output, checker.record(report, sources), argument)
        if isinstance(stream, _HeldStream):
            changed = _answer(output, steps) != answer
            stream.release(
                AgentStream(
                    delta=_answer(output, steps),
                    response=_answer(output, steps),
                    current_agent_name=output.current_agent_name,
                    tool_calls=[],
                    raw=None,
                )
                if changed
                else None
            )
        return output

    def _tell(self, ctx: Any, output: AgentOutput, record: dict[str, Any], argument: str | None) -> None:
        if argument is None:
            output.rag_guard = record
        ctx.write_event_to_stream(GuardReportEvent(report=record, agent=output.current_agent_name, argument=argument))

    async def _check_arguments(
        self, ctx: Any, output: AgentOutput, llm_input: Sequence[ChatMessage], sources: Sources
    ) -> tuple[str | None, Report | None]:
        """The first invented argument of the step's tool calls with its report."""
        if not self.guard_tool_arguments:
            return None, None
        chosen = self.guard_tool_arguments if isinstance(self.guard_tool_arguments, tuple) else None
        said = tuple(
            Document(text=message.content, source="user")
            for message in llm_input
            if message.role == MessageRole.USER and message.content
        )
        known = Sources(said, (None,) * len(said)) + sources
        for call in output.tool_calls:
            name = call.tool_name
            if name == "handoff" or (chosen is not None and name not in chosen):
                continue
            reports: Mapping[str, Report] = await acheck_tool_arguments(self.guard, call.tool_kwargs, known)
            for path, report in reports.items():
                if report.status is Status.HALLUCINATED:
                    return f"{name}.{path}", report
        return None, None


class _HeldStream:
    """An agent's context that keeps ``AgentStream`` events back until they are released."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._held: list[AgentStream] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def write_event_to_stream(self, event: Any) -> None:
        if isinstance(event, AgentStream):
            self._held.append(event)
        else:
            self._context.write_event_to_stream(event)

    def release(self, instead: AgentStream | None) -> None:
        """Let the held events go, or one in their stead; nothing if there was nothing."""
        for event in ([instead] if instead is not None else self._held) if self._held else ():
            self._context.write_event_to_stream(event)


class _History:
    """The steps of a run so far, in the form of the kind of agent: messages, or ReAct's reasoning."""

    def __init__(self, agent: Any, ctx: Any) -> None:
        self._reasons = hasattr(agent, "reasoning_key")
        self._key = agent.reasoning_key if self._reasons else getattr(agent, "scratchpad_key", None)
        self._ctx = ctx

    async def read(self) -> list[Any]:
        return list(await self._ctx.store.get(self._key, default=[])) if self._key else []

    async def write(self, steps: list[Any]) -> None:
        if self._key:
            await self._ctx.store.set(self._key, steps)

    def feedback(self, text: str) -> Any:
        return ObservationReasoningStep(observation=text) if self._reasons else ChatMessage(role="user", content=text)


def _answer(output: AgentOutput, steps: Sequence[Any]) -> str:
    """The answer without ReAct's thoughts before it."""
    last = steps[-1] if steps else None
    return last.response if isinstance(last, ResponseReasoningStep) else output.response.content or ""


def _replace(output: AgentOutput, steps: list[Any], answer: str) -> None:
    """Put another answer where the agent keeps it: in its output, and in what goes to memory."""
    text = answer
    last = steps[-1] if steps else None
    if isinstance(last, ResponseReasoningStep):
        steps[-1] = last.model_copy(update={"response": answer})
        before, marker, _ = (output.response.content or "").partition("Answer:")
        text = f"{before}{marker} {answer}" if marker else answer
    output.response.blocks = [TextBlock(text=text)]


def _cancel_calls(output: AgentOutput, steps: list[Any], message: str) -> None:
    """End the run with a message in place of its tool calls."""
    output.tool_calls = []
    output.response.additional_kwargs.pop("tool_calls", None)
    output.response.blocks = [TextBlock(text=message)]
    if steps and not isinstance(steps[-1], ChatMessage):
        steps[-1] = ResponseReasoningStep(thought="", response=message)


async def run_guarded(checker: Checker, agent: Any, user_msg: Any, **options: Any) -> Any:
    """Run any agent or workflow, then check its result against what its tools returned.

    The answer in the memory of the run is changed with the result. A draft may have been seen in the event stream;
    agents with :class:`GuardAgentMixin` hold it back.

    Args:
        agent: anything whose ``run(user_msg=..., **options)`` gives an ``AgentOutput`` or a response.

    Raises:
        HallucinationError: under ``policy="raise"``.
    """
    handler = agent.run(user_msg=user_msg, **options)
    output = await handler
    question = user_msg if isinstance(user_msg, str) else getattr(user_msg, "content", None)
    if not isinstance(output, AgentOutput):
        if isinstance(output, RESPONSE_TYPE.__args__):  # type: ignore[attr-defined]
            return await Task(checker, output, question, strict=True).arun()
        return output
    answer = output.response.content or ""
    if not answer.strip():
        return output
    sources = tool_sources(call for call in output.tool_calls if isinstance(call, ToolCallResult))
    memory = await handler.ctx.store.get("memory", default=None)
    try:
        (report,) = await checker.acheck([answer], sources, question, strict=True)
    except HallucinationError as error:
        checker.publish(error.report)
        await _correct(memory, answer, checker.core.block_message)
        raise
    if report.output != answer:
        output.response.blocks = [TextBlock(text=report.output)]
        await _correct(memory, answer, report.output)
    output.rag_guard = checker.record(report, sources)
    checker.publish(report)
    return output


async def _correct(memory: BaseMemory | None, answer: str, instead: str) -> None:
    """Replace the answer that ends a conversation in memory."""
    messages = await memory.aget_all() if memory is not None else []
    last = messages[-1] if messages else None
    if (
        memory is None
        or last is None
        or last.role != MessageRole.ASSISTANT
        or not (last.content or "").endswith(answer)
    ):
        return
    text = (last.content or "")[: -len(answer)] + instead
    await memory.aset([*messages[:-1], last.model_copy(update={"blocks": [TextBlock(text=text)]})])
