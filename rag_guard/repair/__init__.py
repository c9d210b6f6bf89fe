"""What happens after a flag: remove, extract or rewrite, then check again."""

from rag_guard.repair.edits import apply_edits
from rag_guard.repair.repairer import NOTHING_LEFT, Repair
from rag_guard.repair.strategies import Strategy

__all__ = ["NOTHING_LEFT", "Repair", "Strategy", "apply_edits"]
