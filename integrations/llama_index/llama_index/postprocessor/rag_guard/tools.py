"""Tools around an agent's work: check a draft before it is said, and arguments before a tool gets them."""

# No postponed annotations here: LlamaIndex reads the tool's own to hide the context from the model.

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from llama_index.postprocessor.rag_guard.base import HallucinationGuard, as_guard
from llama_index.postprocessor.rag_guard.checking import Checker, core_guard
from llama_index.postprocessor.rag_guard.evidence import Sources, sources_of
from llama_index.postprocessor.rag_guard.fields import dotted

from rag_guard import Document, Report
from rag_guard import HallucinationGuard as CoreGuard

DESCRIPTION = (
    "Check a draft answer against the documents retrieved so far. Call it before answering, and correct or leave out "
    "what it reports as unsupported."
)

_REPORTING = {"policy": "report", "on_error": "pass", "on_missing_context": "pass"}


class Verdict(str):
    """What the check tells the model; not evidence for a later check."""


def check_answer_tool(
    guard: HallucinationGuard | CoreGuard | str | None = None,
    *,
    name: str = "check_answer",
    description: str = DESCRIPTION,
    **options: Any,
) -> FunctionTool:
    """A tool with which an agent checks its own draft against what its tools returned in the same run.

    The model sees the argument ``draft`` only: the documents are the run's, so a model cannot check a draft against
    text of its own choice. The tool never raises; what the policy says about final answers does not concern it.

    Args:
        guard: a guard of this package or of the core, the name of a preset, or None for the default preset.
        name: the tool's name.
        description: what the model reads about it.
        **options: arguments of :class:`HallucinationGuard`.
    """
    owner = as_guard(guard, options)
    checker = Checker(core_guard(owner.guard, _REPORTING), on_report=owner.on_report)

    async def check_answer(ctx: Context, draft: str) -> str:
        sources = tool_sources(await ctx.store.get("current_tool_calls", default=[]))
        question = await ctx.store.get("user_msg_str", default=None)
        (report,) = await checker.acheck([draft], sources, question, strict=False)
        checker.publish(report)
        return Verdict(verdict_text(report))

    return FunctionTool.from_defaults(async_fn=check_answer, name=name, description=description)


def verdict_text(report: Report) -> str:
    """A report in words for a model: what is unsupported, and what the documents have instead."""
    if report.status.value == "supported":
        return "SUPPORTED: the documents support every statement of the draft."
    if not report.spans:
        return f"NOT CHECKED ({report.status.value}): nothing is known about the draft."
    lines = [
        f'- "{span.text}" is {span.label}' + (f'; the documents say "{span.expected}"' if span.expected else "")
        for span in report.spans
    ]
    return "UNSUPPORTED parts of the draft:\n" + "\n".join(lines)


def tool_sources(results: Iterable[Any]) -> Sources:
    """What an agent's tools returned in a run, as documents.

    Responses count by their source nodes, node lists by their nodes, everything else by its text, as a document of
    source ``tool``. Failed calls, handoffs and drafts' verdicts are no evidence.

    Args:
        results: ``ToolCallResult`` objects; others are passed over.
    """
    sources = Sources()
    for result in results:
        output = getattr(result, "tool_output", None)
        if output is None or output.is_error or result.tool_name == "handoff" or isinstance(output.raw_output, Verdict):
            continue
        nodes = _nodes_in(output.raw_output)
        if nodes:
            sources += sources_of(nodes)
        elif (output.content or "").strip():
            sources += Sources((Document(text=output.content, id=result.tool_id, source="tool"),), (None,))
    return sources


def _nodes_in(raw: Any) -> Sequence[NodeWithScore | BaseNode]:
    nodes = getattr(raw, "source_nodes", None) or (raw if isinstance(raw, (list, tuple)) else ())
    return nodes if all(isinstance(node, (NodeWithScore, BaseNode)) for node in nodes) else ()


def check_tool_arguments(
    guard: HallucinationGuard | CoreGuard | str | None,
    arguments: Mapping[str, Any],
    documents: Any,
    question: str | None = None,
) -> dict[str, Report]:
    """Check that the strings and numbers that a model wants to call a tool with come from somewhere.

    Args:
        guard: a guard of this package or of the core, the name of a preset, or None for the default preset.
        arguments: of the call; nested ones are named by their path, as in ``address.city``.
        documents: what they may come from: messages of the user, documents, nodes, results of other tools.
        question: what the user wants, if ``documents`` do not hold it.

    Returns:
        One report per string or number; a hallucinated one is invented. Policies are left to the caller.
    """
    if isinstance(documents, Sources):
        sources = documents
    elif (
        isinstance(documents, (list, tuple)) and documents and all(isinstance(one, NodeWithScore) for one in documents)
    ):
        sources = sources_of(documents)
    else:
        from rag_guard.documents import as_documents

        found = as_documents(documents)
        sources = Sources(found, (None,) * len(found))
    values = dict(_values_in(arguments))
    checker = Checker(core_guard(as_guard(guard, {}).guard, _REPORTING))
    reports = checker.check(list(values.values()), sources, question, strict=False) if values else []
    return dict(zip(values, reports, strict=True))


async def acheck_tool_arguments(
    guard: HallucinationGuard | CoreGuard | str | None,
    arguments: Mapping[str, Any],
    documents: Any,
    question: str | None = None,
) -> dict[str, Report]:
    """:func:`check_tool_arguments` in a worker thread; the event loop stays free."""
    return await asyncio.to_thread(check_tool_arguments, guard, arguments, documents, question)


def _values_in(value: Any, path: tuple[Any, ...] = ()) -> Iterable[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _values_in(part, (*path, key))
    elif isinstance(value, (list, tuple)):
        for position, part in enumerate(value):
            yield from _values_in(part, (*path, position))
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool) and str(value).strip():
        yield dotted(path), str(value)
