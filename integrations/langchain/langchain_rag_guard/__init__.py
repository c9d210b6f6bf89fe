"""rag_guard for LangChain: ``chain | HallucinationGuard()`` or ``HallucinationGuard().wrap(chain)``."""

from langchain_rag_guard.chain import GuardedChain
from langchain_rag_guard.runnable import HallucinationGuard

__all__ = ["GuardedChain", "HallucinationGuard"]
