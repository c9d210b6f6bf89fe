"""Attention over a packed token tree: many answers, one pass, every shared prompt computed once, no padding.

A batch is laid out as one long row of *segments*. A prompt is a root segment; each answer scored under that
prompt is a child that attends to its whole parent and causally to itself. Linear layers see one dense
matrix; only attention looks at the segments. A parent may also come from an earlier pass as cached keys and
values, and then has no rows.

Works with every Hugging Face decoder that goes through ``transformers.AttentionInterface``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

ATTENTION_NAME = "rag_guard_tree"

LayerKeyValues = tuple[Tensor, Tensor]
"""Keys and values of one layer, each (key_value_heads, tokens, head_dim)."""


@dataclass
class Segment:
    """Rows ``start:stop`` of the packed sequence.

    Attributes:
        parent: index of the root segment that these rows attend to in full, or None.
        cached: keys and values per layer from an earlier pass; such a segment is a root without rows.
        answer: whether its attention is wanted where a plan asks for attention.
        keep: whether its keys and values are to be collected in ``collected`` for later passes.
    """

    start: int
    stop: int
    parent: int | None = None
    cached: dict[int, LayerKeyValues] | None = None
    answer: bool = False
    keep: bool = False
    collected: dict[int, LayerKeyValues] = field(default_factory=dict)


@dataclass
class Plan:
    """One packed pass: its segments, and the layer (if any) whose answer attention is wanted.

    ``attentions[i]`` becomes the head-averaged attention of answer segment i over its own rows, (rows,
    rows) float32.
    """

    segments: list[Segment]
    attention_layer: int | None = None
    attentions: dict[int, Tensor] = field(default_factory=dict)
    masks: dict[tuple[int, int, int | None], Tensor] = field(default_factory=dict)

    def mask(self, rows: int, before: int, window: int | None, device: torch.device) -> Tensor:
        """Boolean (rows, before + rows): True where row i may look, at most ``window`` positions back if
        given.
        """
        key = (rows, before, window)
        if key not in self.masks:
            query = torch.arange(before, before + rows, device=device)[:, None]
            position = torch.arange(before + rows, device=device)[None, :]
            allowed = position <= query
            if window is not None:
                allowed &= position > query - window
            self.masks[key] = allowed
        return self.masks[key]


_plan: ContextVar[Plan | None] = ContextVar("rag_guard_tree_plan", default=None)


@contextmanager
def use_plan(plan: Plan) -> Iterator[None]:
    """Make ``plan`` the one that attention follows inside the block (per thread and per task)."""
    token = _plan.set(plan)
    try:
        yield
    finally:
        _plan.reset(token)


def tree_attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention function for ``transformers.AttentionInterface``; query (1, heads, rows, dim) -> (1, rows,
    heads, dim).

    Raises:
        RuntimeError: outside :func:`use_plan`, or for attention sinks, which have no packed form here.
    """
    plan = _plan.get()
    if plan is None:
        raise RuntimeError(f"attention {ATTENTION_NAME!r} runs only inside CausalLM.score")
    if kwargs.get("s_aux") is not None:
        raise RuntimeError("attention sinks are not supported; use a model without them")
    layer = int(getattr(module, "layer_idx", 0))
    scale = scaling if scaling is not None else query.shape[-1] ** -0.5
    groups = query.shape[1] // key.shape[1]
    output = torch.empty((query.shape[2], query.shape[1], value.shape[-1]), dtype=query.dtype, device=query.device)
    for index, segment in enumerate(plan.segments):
        rows = segment.stop - segment.start
        if rows == 0:
            continue
        own_keys, own_values = (
            key[0, :, segment.start : segment.stop],
            value[0, :, segment.start : segment.stop],
        )
        if segment.keep:
            segment.collected[layer] = (own_keys.clone(), own_values.clone())
        before = 0
        keys, values = own_keys, own_values
        if segment.parent is not None:
            parent = plan.segments[segment.parent]
            if parent.cached is not None:
                parent_keys, parent_values = parent.cached[layer]
            else:
                parent_keys = key[0, :, parent.start : parent.stop]
                parent_values = value[0, :, parent.start : parent.stop]
            before = parent_keys.shape[1]
            keys = torch.cat([parent_keys, own_keys], dim=1)
            values = torch.cat([parent_values, own_values], dim=1)
        if groups > 1:
            keys = keys.repeat_interleave(groups, dim=0)
            values = values.repeat_interleave(groups, dim=0)
        queries = query[0, :, segment.start : segment.stop]
        wanted = plan.attention_layer == layer and segment.answer
        window = sliding_window if sliding_window and sliding_window < before + rows else None
        if softcap is None and not wanted:
            plain = before == 0 and window is None
            mask = None if plain else plan.mask(rows, before, window, query.device)
            attended = functional.scaled_dot_product_attention(
                queries[None], keys[None], values[None], attn_mask=mask, is_causal=plain, scale=scale
            )[0]
        else:
            weights = _weights(queries, keys, scale, softcap, plan.mask(rows, before, window, query.device))
            if wanted:
                plan.attentions[index] = weights[:, :, before:].mean(dim=0)
            attended = weights.to(values.dtype) @ values
        output[segment.start : segment.stop] = attended.transpose(0, 1)
    return output[None], None


def _weights(queries: Tensor, keys: Tensor, scale: float, softcap: float | None, mask: Tensor) -> Tensor:
    scores = (queries @ keys.transpose(1, 2)).float() * scale
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)


def register() -> None:
    """Make the attention known to transformers under :data:`ATTENTION_NAME`; calling it again is harmless."""
    from transformers import AttentionInterface

    AttentionInterface.register(ATTENTION_NAME, tree_attention)
