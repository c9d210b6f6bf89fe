"""rag_guard for LangChain: ``chain | HallucinationGuard()`` or ``HallucinationGuard().wrap(chain)``."""

from langchain_rag_guard.chain import GuardedChain
from langchain_rag_guard.runnable import HallucinationGuard
from langchain_rag_guard.watch import watch

__all__ = ["GuardedChain", "HallucinationGuard", "watch"]
