"""rag_guard for LlamaIndex: ``node_postprocessors=[HallucinationGuard()]`` checks an engine's answers."""

from llama_index.postprocessor.rag_guard.base import HallucinationGuard, Watch
from llama_index.postprocessor.rag_guard.evidence import NodeRange, locate
from llama_index.postprocessor.rag_guard.query_engine import GuardedQueryEngine

__all__ = ["GuardedQueryEngine", "HallucinationGuard", "NodeRange", "Watch", "locate"]
