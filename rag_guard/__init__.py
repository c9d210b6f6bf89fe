"""Hallucination guards for retrieval-augmented generation: local, span by span, with evidence.

>>> from rag_guard import HallucinationGuard
>>> report = HallucinationGuard().check("The hall seats 900.", ["The hall seats 600."])
>>> report.status, report.spans[0].text, report.spans[0].expected
"""

from rag_guard.errors import (
    ChecksumError,
    DetectorError,
    GuardTimeoutError,
    HallucinationError,
    InvalidInputError,
    MissingContextError,
    MissingDependencyError,
    ModelNotFoundError,
    RagGuardError,
    UnsupportedDocumentError,
)
from rag_guard.guard import HallucinationGuard
from rag_guard.schema import Citation, Claim, Document, Edit, Entity, Evidence, Example, Report, Span, Status

__version__ = "0.1.0"

__all__ = [
    "ChecksumError",
    "Citation",
    "Claim",
    "DetectorError",
    "Document",
    "Edit",
    "Entity",
    "Evidence",
    "Example",
    "GuardTimeoutError",
    "HallucinationError",
    "HallucinationGuard",
    "InvalidInputError",
    "MissingContextError",
    "MissingDependencyError",
    "ModelNotFoundError",
    "RagGuardError",
    "Report",
    "Span",
    "Status",
    "UnsupportedDocumentError",
    "__version__",
]
