"""Prompts and answers as token ids, with code-point offsets that hold for every kind of tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SLOT = "\uf8ffcontent\uf8ff"


@dataclass(frozen=True)
class TokenizedText:
    """Token ids of a text and, per token, the half-open code-point range it covers.

    Tokens that hold only part of a character (byte-level tokens of one emoji, say) all cover that whole
    character, so neighbouring ranges may overlap there; :func:`character_groups` says which tokens belong
    together.
    """

    ids: list[int]
    offsets: NDArray[np.int64]


def replace_surrogates(text: str) -> str:
    """``text`` with each lone surrogate replaced by U+FFFD: encodable, and every offset stays as it was."""
    if text.isascii():
        return text
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)


class PromptBuilder:
    """Writes documents and question into the model's chat template, or plainly where the model has none.

    The question follows the documents. Text of the caller never becomes a control token: ``<|im_end|>``
    inside a document is read as the characters it is made of.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        head, tail, special = self._frame()
        self.head: list[int] = self._encode(head, special=special)
        self.tail: list[int] = self._encode(tail, special=False, control=True)

    def _frame(self) -> tuple[str, str, bool]:
        """Text before the content, text after it, and whether the tokenizer must add special tokens."""
        if getattr(self._tokenizer, "chat_template", None):
            rendered = self._tokenizer.apply_chat_template(
                [{"role": "user", "content": _SLOT}], tokenize=False, add_generation_prompt=True
            )
            if rendered.count(_SLOT) == 1:
                head, tail = rendered.split(_SLOT)
                return head, tail, False
        return "", "\n\n", True

    def _encode(self, text: str, *, special: bool, control: bool = True) -> list[int]:
        if not text and not special:
            return []
        encoded = self._tokenizer(text, add_special_tokens=special, split_special_tokens=not control)
        ids = [int(token) for token in encoded["input_ids"]]
        end = getattr(self._tokenizer, "eos_token_id", None)
        while special and ids and ids[-1] == end and self._tokenizer.bos_token_id != end:
            ids.pop()  # Some tokenizers close every text; the prompt goes on.
        return ids

    def content(self, documents: Sequence[str], question: str | None) -> str:
        """The user's turn: documents, then the question, apart by blank lines; empty parts are left out."""
        return "\n\n".join(part for part in (*documents, question or "") if part)

    def prompt(self, documents: Sequence[str], question: str | None) -> list[int]:
        """Token ids up to the point where the answer begins; never empty."""
        content = replace_surrogates(self.content(documents, question))
        ids = [*self.head, *self._encode(content, special=False, control=False), *self.tail]
        return ids or self._fallback()

    @property
    def overhead(self) -> int:
        """Tokens that the template itself takes."""
        return len(self.head) + len(self.tail)

    def _fallback(self) -> list[int]:
        for name in ("bos_token_id", "eos_token_id", "pad_token_id"):
            token = getattr(self._tokenizer, name, None)
            if token is not None:
                return [int(token)]
        return [0]

    def tokenize(self, text: str) -> TokenizedText:
        """Token ids of ``text`` on its own (so that boundaries to the prompt are exact) with code-point
        offsets.
        """
        clean = replace_surrogates(text)
        if not clean:
            return TokenizedText([], np.zeros((0, 2), dtype=np.int64))
        if getattr(self._tokenizer, "is_fast", False):
            encoded = self._tokenizer(
                clean, add_special_tokens=False, split_special_tokens=True, return_offsets_mapping=True
            )
            ids = [int(token) for token in encoded["input_ids"]]
            offsets = np.asarray(encoded["offset_mapping"], dtype=np.int64).reshape(-1, 2)
            return TokenizedText(ids, offsets)
        encoded = self._tokenizer(clean, add_special_tokens=False)
        ids = [int(token) for token in encoded["input_ids"]]
        return TokenizedText(ids, offsets_by_decoding(self._tokenizer, ids, clean))


def offsets_by_decoding(tokenizer: Any, ids: Sequence[int], text: str) -> NDArray[np.int64]:
    """Offsets for tokenizers that give none: decode ever longer beginnings and see how much of ``text``
    they cover.
    """
    offsets = np.zeros((len(ids), 2), dtype=np.int64)
    reached = 0
    for index in range(len(ids)):
        decoded = tokenizer.decode(
            list(ids[: index + 1]), skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        whole = decoded.rstrip("\ufffd")
        partial = len(whole) < len(decoded)
        end = max(reached, min(len(text), _common_prefix(whole, text)))
        start = reached
        if end == reached and partial:
            offsets[index] = (start, min(start + 1, len(text)))
            continue
        offsets[index] = (start, end)
        reached = end
    return offsets


def _common_prefix(decoded: str, text: str) -> int:
    if not text.startswith(" ") and decoded.startswith(" "):
        decoded = decoded[1:]
    low, high = 0, min(len(decoded), len(text))
    while low < high:
        middle = (low + high + 1) // 2
        if decoded[:middle] == text[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def character_groups(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Group index per token: tokens whose ranges overlap share a group; groups are numbered from 0 in order.

    Tokens that cover no character (some tokenizers emit a lone word mark) join the group before them.
    """
    groups = np.zeros(len(offsets), dtype=np.int64)
    current, reached = -1, -1
    for index, (start, end) in enumerate(offsets.tolist()):
        if current < 0 or (start >= reached and end > start):
            current += 1
            reached = end
        else:
            reached = max(reached, end)
        groups[index] = current
    return groups
