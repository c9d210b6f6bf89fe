"""The exception hierarchy: everything the library raises on purpose derives from :class:`RagGuardError`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_guard.schema import Report


class RagGuardError(Exception):
    """Base class of all errors of this library."""


class InvalidInputError(RagGuardError, ValueError):
    """An argument has the right type but a value that cannot be used; the message names the remedy."""


class UnsupportedDocumentError(RagGuardError, TypeError):
    """A document is neither text, a ``Document``, nor an object with ``page_content`` or ``get_content()``."""


class MissingContextError(RagGuardError, ValueError):
    """No document was found for an answer and the caller asked for that to be an error."""


class DetectorError(RagGuardError, RuntimeError):
    """A detector failed; the original exception is the ``__cause__``."""


class GuardTimeoutError(RagGuardError, TimeoutError):
    """The check did not finish within the guard's ``timeout``."""


class MissingDependencyError(RagGuardError, ImportError):
    """An optional package is needed and not installed; the message says how to install it."""


class ModelNotFoundError(RagGuardError, FileNotFoundError):
    """A model's files are not on this machine and no source could provide them."""


class ChecksumError(RagGuardError, ValueError):
    """A model file does not have the checksum that the catalog records for it."""


class HallucinationError(RagGuardError, ValueError):
    """Raised under ``policy="raise"`` when an answer is hallucinated.

    Attributes:
        report: the full report of the check, with spans and evidence.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        quotes = ", ".join(repr(span.text) for span in report.spans[:5])
        super().__init__(f"the documents do not support {len(report.spans)} span(s) of the answer: {quotes}")
