"""EAEV: entity alignment against the evidence, with perturbation stability."""

from rag_guard.detectors.entity_alignment.detector import EntityAlignment

__all__ = ["EntityAlignment"]
