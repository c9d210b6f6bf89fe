"""Named sets of detectors, so that a user picks a trade-off instead of parts."""

from __future__ import annotations

from collections.abc import Callable

from rag_guard.detectors.base import Detector
from rag_guard.errors import InvalidInputError


def _fast() -> list[Detector]:
    from rag_guard.detectors.entity_alignment import EntityAlignment

    return [EntityAlignment(embedder=None, classifier="rules")]


def _balanced() -> list[Detector]:
    from rag_guard.detectors.entity_alignment import EntityAlignment

    return [EntityAlignment()]


PRESETS: dict[str, Callable[[], list[Detector]]] = {"fast": _fast, "balanced": _balanced}
"""``fast``: entity alignment without any model. ``balanced``: with embeddings and part-of-speech tags where they are
installed."""

DEFAULT_PRESET = "balanced"


def detectors_of(preset: str) -> list[Detector]:
    """New detectors of a preset.

    Raises:
        InvalidInputError: no preset has that name.
    """
    if preset not in PRESETS:
        raise InvalidInputError(f"preset={preset!r} is not known; choose one of {', '.join(PRESETS)}")
    return PRESETS[preset]()
