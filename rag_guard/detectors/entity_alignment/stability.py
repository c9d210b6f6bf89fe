"""Step 4 of EAEV: counterfactual stability. How far does the alignment fall under small changes of the evidence?

U = {leave out the best window; normalise punctuation and case; compress white space; keep alphanumerics only}. A
mention that only one window supports, or that only its exact punctuation tells from another, is less stable.
"""

from __future__ import annotations

from collections.abc import Callable

import regex
from rapidfuzz import fuzz

_PUNCTUATION = regex.compile(r"[\p{P}\p{S}]+")
_SPACE = regex.compile(r"\s+")
_NOT_ALPHANUMERIC = regex.compile(r"[^\p{L}\p{M}\p{N}]+")

LEAVE_ONE_OUT = "leave_out_best_window"


def _without_punctuation(text: str) -> str:
    return _PUNCTUATION.sub(" ", text).casefold().strip()


def _compress_space(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _alphanumerics(text: str) -> str:
    return _NOT_ALPHANUMERIC.sub("", text).casefold()


PERTURBATIONS: dict[str, Callable[[str], str]] = {
    "normalise_punctuation_and_case": _without_punctuation,
    "compress_whitespace": _compress_space,
    "alphanumerics_only": _alphanumerics,
}


class PerturbedWindows:
    """Windows' texts under each perturbation, each computed once per batch."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str], str] = {}

    def identity(self, mention: str, window: str, perturbation: str) -> float:
        """Surface identity in [0, 1] of a mention and a window's text, both under one perturbation."""
        change = PERTURBATIONS[perturbation]
        key = (perturbation, window)
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = change(window)
        changed = change(mention)
        if not changed:
            return 1.0
        return 1.0 if changed in text else fuzz.partial_ratio(changed, text) / 100
