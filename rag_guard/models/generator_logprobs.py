"""Token log-probabilities that a generator returned with its answer, read from the usual shapes and aligned
to text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_guard.errors import InvalidInputError


@dataclass(frozen=True)
class GeneratedTokens:
    """A generator's own tokens: the UTF-8 bytes of each (parts of a character allowed) and its natural
    log-probability.
    """

    pieces: tuple[bytes, ...]
    log_probs: tuple[float, ...]


def read_generated_tokens(response: Any) -> GeneratedTokens | None:
    """Tokens and log-probabilities out of what a generator returned, or None if there are none.

    Understands the OpenAI chat shape (``{"logprobs": {"content": [{"token", "logprob", "bytes"}]}}``, as in
    LangChain's ``response_metadata``, LlamaIndex's ``additional_kwargs`` or ``raw``, a choice or a whole
    response), the completion shape that vLLM serves too (``{"logprobs": {"tokens": [...], "token_logprobs":
    [...]}}``), vLLM's own list of ``{token_id: Logprob}``, and a plain list of ``(token,
    log-probability)``. Objects with attributes are read like mappings.

    Raises:
        InvalidInputError: a token has no text, or a log-probability is no number.
    """
    found = _find(response, depth=0)
    if found is None:
        return None
    pieces, log_probs = [], []
    for position, (token, log_prob) in enumerate(found):
        if token is None or not isinstance(log_prob, (int, float)) or np.isnan(log_prob):
            raise InvalidInputError(
                f"logprobs[{position}] is {token!r} with {log_prob!r}; give a token its text and a number"
            )
        pieces.append(token if isinstance(token, bytes) else token.encode("utf-8", "surrogatepass"))
        log_probs.append(min(float(log_prob), 0.0))
    return GeneratedTokens(tuple(pieces), tuple(log_probs))


_NESTED = ("response_metadata", "additional_kwargs", "raw", "choices", "logprobs", "content")


def _find(value: Any, depth: int) -> list[tuple[str | bytes | None, Any]] | None:
    """The first list of tokens with log-probabilities inside ``value``."""
    if value is None or isinstance(value, (str, bytes, int, float)) or depth > 6:
        return None
    if isinstance(value, Sequence):
        return _from_list(value, depth)
    tokens, numbers = _get(value, "tokens"), _get(value, "token_logprobs")
    if isinstance(tokens, Sequence) and isinstance(numbers, Sequence) and len(tokens) == len(numbers):
        # The first token of a prompt has no log-probability.
        return [(token, 0.0 if n is None else n) for token, n in zip(tokens, numbers, strict=True)]
    for name in _NESTED:
        found = _find(_get(value, name), depth + 1)
        if found is not None:
            return found
    return None


def _from_list(values: Sequence[Any], depth: int) -> list[tuple[str | bytes | None, Any]] | None:
    if not values:
        return None
    first = values[0]
    if isinstance(first, tuple) and len(first) == 2:
        return [(token, log_prob) for token, log_prob in values]
    if _get(first, "logprob") is not None and _get(first, "token") is not None:
        return [(_bytes_of(item), _get(item, "logprob")) for item in values]
    if isinstance(first, Mapping) and all(_get(item, "decoded_token") is not None for item in first.values()):
        # vLLM lists the sampled token first, alternatives after it.
        chosen = [next(iter(candidates.values())) for candidates in values]
        return [(_get(item, "decoded_token"), _get(item, "logprob")) for item in chosen]
    for item in values[:1]:
        found = _find(item, depth + 1)
        if found is not None:
            return found
    return None


def _bytes_of(item: Any) -> str | bytes | None:
    raw = _get(item, "bytes")
    return bytes(raw) if raw is not None else _get(item, "token")


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def align_log_probs(answer: str, generated: GeneratedTokens, offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """The generator's log-probabilities as ones of other tokens of the same answer.

    A generator's token shares its log-probability evenly among its bytes; each of our tokens sums its
    bytes. So any range made of whole generator tokens keeps its joint log-probability. Tokens that share a
    character share it evenly.

    Args:
        answer: the text; white space around what was generated and end-of-text marks after it may be
            missing in it.
        offsets: (n, 2) code-point offsets of our tokens.

    Returns:
        (n,) float64, at most 0. Text between our tokens (spaces some tokenizers leave out) counts to the
        next token.

    Raises:
        InvalidInputError: the generated tokens are of another text.
    """
    data = answer.encode("utf-8", "surrogatepass")
    written = b"".join(generated.pieces)
    start = written.find(data)
    if start < 0:
        raise InvalidInputError(
            "the generator's tokens do not spell the answer; pass the log-probabilities of this very answer"
        )
    sizes = np.array([len(piece) for piece in generated.pieces], dtype=np.int64)
    shares = np.repeat(np.asarray(generated.log_probs) / np.maximum(sizes, 1), sizes)
    shares = shares[start : start + len(data)]
    total = np.concatenate([[0.0], np.cumsum(shares)])
    widths = [len(character.encode("utf-8", "surrogatepass")) for character in answer]
    byte_at = np.concatenate([[0], np.cumsum(np.array(widths, dtype=np.int64))]).astype(np.int64)
    return _share(total, byte_at, offsets)


def _share(total: NDArray[np.float64], byte_at: NDArray[np.int64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    from rag_guard.models.prompts import character_groups

    result = np.zeros(len(offsets))
    groups = character_groups(offsets)
    reached = 0
    for group in range(int(groups.max(initial=-1)) + 1):
        members = np.flatnonzero(groups == group)
        end = int(byte_at[offsets[members, 1].max()])
        if group == groups[-1]:
            end = int(byte_at[-1])
        result[members] = min((total[end] - total[reached]) / len(members), 0.0)
        reached = end
    return result
