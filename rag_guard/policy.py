"""What happens to an answer after its verdict, and what a failed check means for the caller."""

from __future__ import annotations

import logging
from typing import Literal

from rag_guard.errors import DetectorError, HallucinationError, MissingContextError
from rag_guard.schema import Action, Report, Status

Policy = Literal["report", "repair", "block", "raise"]
OnError = Literal["pass", "warn", "block", "raise"]
OnMissingContext = Literal["pass", "warn", "block", "raise"]

BLOCK_MESSAGE = "I could not verify an answer in the provided documents."

logger = logging.getLogger("rag_guard")


def apply_policy(report: Report, policy: Policy, block_message: str) -> Report:
    """The report with ``action`` and ``output`` set for a verdict; answers without a finding go through unchanged.

    Raises:
        HallucinationError: ``policy="raise"`` and the answer is hallucinated.
    """
    if report.status is not Status.HALLUCINATED:
        return report
    if policy == "raise":
        raise HallucinationError(report.model_copy(update={"action": "raised"}))
    if report.repaired is not None:
        return report.model_copy(update={"action": "repaired", "output": report.repaired})
    if policy == "block":
        return report.model_copy(update={"action": "blocked", "output": block_message})
    return report.model_copy(update={"action": "reported"})


def apply_failure(report: Report, mode: OnError, block_message: str, cause: BaseException | None = None) -> Report:
    """The report of a check that could not be made, under ``on_error`` or ``on_missing_context``.

    ``pass`` lets the answer through in silence, ``warn`` also logs, ``block`` replaces it.

    Raises:
        DetectorError or MissingContextError: ``mode="raise"``.
    """
    message = report.error or "no document was given, so nothing could be checked"
    if mode == "raise":
        if report.status is Status.NO_CONTEXT:
            raise MissingContextError(message)
        if cause is not None and not isinstance(cause, DetectorError):
            raise DetectorError(message) from cause
        raise cause or DetectorError(message)
    if mode == "warn":
        logger.warning("answer not checked: %s", message)
    action: Action = "blocked" if mode == "block" else "passed"
    output = block_message if mode == "block" else report.output
    return report.model_copy(update={"action": action, "output": output})
