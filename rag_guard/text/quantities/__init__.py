"""Quantities: numbers, dates, times, money, measures and codes with exact offsets."""

from rag_guard.text.quantities.compare import adds_detail, compare, conflict_offsets
from rag_guard.text.quantities.model import Agreement, PartialDate, Quantity
from rag_guard.text.quantities.scan import find_quantities

__all__ = [
    "Agreement",
    "PartialDate",
    "Quantity",
    "adds_detail",
    "compare",
    "conflict_offsets",
    "find_quantities",
]
