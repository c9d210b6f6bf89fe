"""rag_guard for LlamaIndex: ``node_postprocessors=[HallucinationGuard()]`` checks an engine's answers."""

from llama_index.postprocessor.rag_guard.agents import GuardAgentMixin, GuardReportEvent
from llama_index.postprocessor.rag_guard.base import HallucinationGuard, Watch
from llama_index.postprocessor.rag_guard.evaluation import GuardEvaluator
from llama_index.postprocessor.rag_guard.evidence import NodeRange, locate, node_documents
from llama_index.postprocessor.rag_guard.query_engine import GuardedQueryEngine
from llama_index.postprocessor.rag_guard.tools import acheck_tool_arguments, check_answer_tool, check_tool_arguments

__all__ = [
    "GuardAgentMixin",
    "GuardEvaluator",
    "GuardReportEvent",
    "GuardedQueryEngine",
    "HallucinationGuard",
    "NodeRange",
    "Watch",
    "acheck_tool_arguments",
    "check_answer_tool",
    "check_tool_arguments",
    "locate",
    "node_documents",
]
