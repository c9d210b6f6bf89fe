"""Cut what does not fit a causal LM's window: documents into several prompts, answers into overlapping
pieces.

The rule (ours): an answer gets at most half of the window, and the prompt the rest. Documents are packed
whole and in order into as few windows as they need; a document larger than a window is cut at token
boundaries with a quarter of overlap. The answer is scored under every window. An answer longer than half a
window is scored in pieces that each see the quarter window of answer before them. A question that would
take more than half of the prompt keeps its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_guard.models.prompts import PromptBuilder


@dataclass(frozen=True)
class Piece:
    """Answer tokens ``start:stop`` are scored, with ``context:start`` before them as answer context."""

    context: int
    start: int
    stop: int


def answer_pieces(tokens: int, window: int) -> list[Piece]:
    """Pieces that cover ``tokens`` answer tokens once each, every piece at most half of ``window`` long."""
    half = max(window // 2, 2)
    if tokens <= half:
        return [Piece(0, 0, tokens)]
    quarter = half // 2
    pieces = [Piece(0, 0, half)]
    while pieces[-1].stop < tokens:
        start = pieces[-1].stop
        pieces.append(Piece(start - quarter, start, min(start + half - quarter, tokens)))
    return pieces


def prompt_windows(
    prompts: PromptBuilder, documents: Sequence[str], question: str | None, window: int, answer_tokens: int
) -> list[list[int]]:
    """Prompts as token ids, each with the question and as many documents as fit; one if everything fits.

    Together with ``min(answer_tokens, window // 2)`` answer tokens each stays within ``window``.
    """
    room = window - min(answer_tokens, max(window // 2, 2))
    whole = prompts.prompt(documents, question)
    if len(whole) <= room:
        return [whole]
    question = _shorten_question(prompts, question, max((room - prompts.overhead) // 2, 1))
    # Two tokens of slack per joint: joining texts by blank lines may add tokens at either side.
    left = max(room - len(prompts.prompt([], question)) - 4, 4)
    windows: list[list[str]] = []
    used = left + 1
    for text in documents:
        for part, size in _split_document(prompts, text, left):
            if used + size + 2 > left:
                windows.append([])
                used = 0
            windows[-1].append(part)
            used += size + 2
    return [_fit(prompts.prompt(parts, question), room, prompts) for parts in windows or [[]]]


def _shorten_question(prompts: PromptBuilder, question: str | None, limit: int) -> str | None:
    if not question:
        return question
    tokens = prompts.tokenize(question)
    if len(tokens.ids) <= limit:
        return question
    return question[int(tokens.offsets[-limit, 0]) :]


def _split_document(prompts: PromptBuilder, text: str, limit: int) -> list[tuple[str, int]]:
    tokens = prompts.tokenize(text)
    total = len(tokens.ids)
    if total + 2 <= limit:
        return [(text, total)] if text else []
    size = max(limit - 2, 1)
    step = max(size - size // 4, 1)
    parts = []
    for first in range(0, total, step):
        last = min(first + size, total)
        parts.append((text[int(tokens.offsets[first, 0]) : int(tokens.offsets[last - 1, 1])], last - first))
        if last == total:
            break
    return parts


def _fit(ids: list[int], room: int, prompts: PromptBuilder) -> list[int]:
    """Drop from the middle what retokenisation of joined parts may have added beyond ``room``."""
    extra = len(ids) - room
    if extra <= 0:
        return ids
    cut = max(len(prompts.head), 1)
    return ids[:cut] + ids[cut + extra :]
