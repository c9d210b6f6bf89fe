"""Text and yes-or-no probabilities from a local instruction model, in batches of one forward each."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rag_guard.errors import InvalidInputError
from rag_guard.models.loading import DEFAULT_CAUSAL_LM, load_weights


class Generator:
    """An instruction model with its chat template. Safe to call from several threads (calls take turns).

    Args:
        model: a Hugging Face causal LM.
        tokenizer: its tokenizer.
        window: most tokens of a prompt; the model's own limit if None. Longer prompts lose their middle.
    """

    def __init__(self, model: Any, tokenizer: Any, *, window: int | None = None) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        limit = int(getattr(model.config, "max_position_embeddings", 0) or 2048)
        self.window = min(window, limit) if window else limit
        self._lock = threading.Lock()

    def generate(self, prompt: str, max_new_tokens: int) -> str:
        """The greedy reply to one user message, up to ``max_new_tokens`` tokens."""
        ids = torch.tensor([self._encode(prompt, max_new_tokens)], device=self.model.device)
        with self._lock, torch.inference_mode():
            output = self.model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=max_new_tokens,
                do_sample=False,
                temperature=None,
                top_p=None,
                pad_token_id=self._pad,
            )
        text: str = self.tokenizer.decode(output[0, ids.shape[1] :], skip_special_tokens=True)
        return text

    def yes_probabilities(self, prompts: Sequence[str], batch_size: int = 16) -> NDArray[np.float64]:
        """(n,) P(yes) against P(no) as the first token of the reply, in [0, 1]; one forward per batch.

        Raises:
            InvalidInputError: the tokenizer has no single tokens for yes and no.
        """
        yes, no = self._answers()
        result = np.zeros(len(prompts))
        order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
        for first in range(0, len(order), batch_size):
            part = order[first : first + batch_size]
            rows = [self._encode(prompts[i], 1) for i in part]
            width = max(map(len, rows))
            ids = torch.full((len(rows), width), self._pad, device=self.model.device)
            mask = torch.zeros_like(ids)
            for number, row in enumerate(rows):
                ids[number, width - len(row) :] = torch.tensor(row, device=ids.device)
                mask[number, width - len(row) :] = 1
            positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
            with self._lock, torch.inference_mode():
                states = self.model.base_model(input_ids=ids, attention_mask=mask, position_ids=positions)
                scores = self.model.get_output_embeddings()(states.last_hidden_state[:, -1]).float()
            both = torch.stack([scores[:, no].logsumexp(1), scores[:, yes].logsumexp(1)], dim=1)
            result[part] = torch.softmax(both, dim=1)[:, 1].cpu().numpy()
        return result

    @property
    def _pad(self) -> int:
        pad = self.tokenizer.pad_token_id
        return int(pad if pad is not None else self.tokenizer.eos_token_id)

    def _answers(self) -> tuple[list[int], list[int]]:
        found = []
        for forms in (("Yes", "yes", " Yes", " yes"), ("No", "no", " No", " no")):
            encoded = (self.tokenizer.encode(form, add_special_tokens=False) for form in forms)
            found.append(sorted({ids[0] for ids in encoded if len(ids) == 1}))
        if not all(found):
            raise InvalidInputError("the tokenizer has no single tokens for yes and no; use another model")
        return found[0], found[1]

    def _encode(self, prompt: str, reserve: int) -> list[int]:
        message = [{"role": "user", "content": prompt}]
        if self.tokenizer.chat_template:
            text = self.tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
        else:
            text = prompt + "\n"
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=not self.tokenizer.chat_template)
        room = max(self.window - reserve, 16)
        return ids if len(ids) <= room else ids[: room // 2] + ids[-(room - room // 2) :]


@lru_cache(maxsize=2)
def load_generator(source: str | Path | None = None, *, device: str = "auto") -> Generator:
    """The generator of a model; see :func:`rag_guard.models.loading.load_causal_lm` for ``source``.

    Raises:
        ModelNotFoundError: nothing of this name is on this machine.
    """
    place, model, tokenizer = load_weights(source or DEFAULT_CAUSAL_LM, device=device)
    return Generator(model.to(place), tokenizer)
