"""The classifier of the delta probe, and how it is stored: safetensors weights with its configuration in
the header.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rag_guard.errors import InvalidInputError

Head = Literal["mlp", "convolution"]

_CLIP = 8.0


@dataclass(frozen=True)
class ProbeConfig:
    """Everything about a probe that is not a weight.

    Attributes:
        model: name of the causal LM whose states it reads.
        inputs: names of the stacked inputs, such as ``delta_18``, ``residual_18``, ``with_18``, in order.
        width: size of one input.
        head: ``mlp``: each token on its own (CORTEX); ``convolution``: between the first and the last
            layer, two convolutions over the answer (about 40 tokens either side) and its mean and highest
            activations.
        hidden: sizes of the two hidden layers.
        dropout: rate in training.
        stay: stay probability of the label chain over its risks.
        stay_hallucinated: the same for hallucinated tokens, or None.
        base_rate: share of hallucinated tokens that the chain takes its risks to assume.
        threshold: smoothed risk from which a token is flagged, chosen on held-out training groups.
    """

    model: str
    inputs: tuple[str, ...]
    width: int
    head: Head = "mlp"
    hidden: tuple[int, int] = (256, 128)
    dropout: float = 0.1
    stay: float = 0.993
    stay_hallucinated: float | None = None
    base_rate: float = 0.5
    threshold: float = 0.5

    def __post_init__(self) -> None:
        if self.head not in ("mlp", "convolution"):
            raise InvalidInputError(f"head={self.head!r}; use 'mlp' or 'convolution'")
        if not self.inputs:
            raise InvalidInputError("inputs is empty; name at least one, such as 'delta_18'")
        for name in self.inputs:
            self._parse(name)

    @staticmethod
    def _parse(name: str) -> tuple[str, int]:
        kind, _, layer = name.rpartition("_")
        if kind not in ("delta", "residual", "with", "without") or not layer.isdigit():
            raise InvalidInputError(f"inputs has {name!r}; use delta_, residual_, with_ or without_ and a layer")
        return kind, int(layer)

    @property
    def layers(self) -> tuple[int, ...]:
        """Layers that the inputs are made of."""
        return tuple(sorted({self._parse(name)[1] for name in self.inputs}))

    @property
    def residual_layer(self) -> int | None:
        """The layer whose attention the residual needs, or None."""
        found = [layer for kind, layer in map(self._parse, self.inputs) if kind == "residual"]
        return found[0] if found else None

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> ProbeConfig:
        """From JSON, where tuples are lists."""
        arguments: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**arguments)


class _AcrossTokens(nn.Module):
    """Token activations (answers, tokens, size), 0 where ``mask`` is, to (answers, tokens, width), each
    token seeing its neighbours on both sides and the whole answer. Padding changes nothing."""

    def __init__(self, size: int, width: int, dropout: float) -> None:
        super().__init__()
        self.near = nn.Conv1d(size, width, 9, padding=4)
        self.far = nn.Conv1d(width, width, 9, padding=16, dilation=4)
        self.answer = nn.Linear(2 * size, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        mean = tokens.sum(dim=1) / mask.sum(dim=1, keepdim=True)
        # Activations are not negative, so padding never is the highest.
        summary = self.answer(torch.cat([mean, tokens.max(dim=1).values], dim=-1))
        near = torch.relu(self.near(tokens.transpose(1, 2)) + summary[..., None]) * mask[:, None]
        result: Tensor = (near + torch.relu(self.far(self.dropout(near)))).transpose(1, 2)
        return result


class Probe(nn.Module):
    """Risks of answer tokens from their contrast states.

    Inputs are standardised by the training set's moments and clipped to 8 standard deviations: a few
    dimensions of a causal LM's states are hundreds of times larger than the rest.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, config: ProbeConfig) -> None:
        super().__init__()
        self.config = config
        size = len(config.inputs) * config.width
        first, second = config.hidden
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("scale", torch.ones(size))
        self.inner = nn.Linear(size, first)
        self.dropout = nn.Dropout(config.dropout)
        self.across: _AcrossTokens | None = None
        if config.head == "convolution":
            self.across = _AcrossTokens(first, second, config.dropout)
        else:
            self.middle = nn.Sequential(nn.Linear(first, second), nn.ReLU())
        self.outer = nn.Linear(second, 1)

    def forward(self, states: Tensor, mask: Tensor | None = None) -> Tensor:
        """Log-odds of hallucination.

        Args:
            states: (tokens, size) for ``mlp``; (answers, tokens, size), padded at the end, for
                ``convolution``.
            mask: (answers, tokens), 1 for tokens and 0 for padding; ``convolution`` needs it.

        Returns:
            (tokens,) or (answers, tokens).
        """
        standard = ((states - self.mean) / self.scale).clamp(-_CLIP, _CLIP)
        inner = self.dropout(torch.relu(self.inner(standard)))
        if self.across is None:
            inner = self.middle(inner)
        else:
            assert mask is not None
            inner = self.across(inner * mask[..., None], mask)
        odds: Tensor = self.outer(self.dropout(inner))[..., 0]
        return odds

    @torch.inference_mode()
    def risks(self, answers: Sequence[NDArray[np.floating]]) -> list[NDArray[np.float64]]:
        """Raw risks in (0, 1), (n,) per answer, from its stacked inputs (n, size)."""
        self.eval()
        lengths = [len(answer) for answer in answers]
        filled = [index for index, length in enumerate(lengths) if length]
        results = [np.zeros(0)] * len(answers)
        if not filled:
            return results
        device = self.outer.weight.device
        tensors = [torch.as_tensor(np.asarray(answers[index], dtype=np.float32)) for index in filled]
        if self.across is None:
            odds = self(torch.cat(tensors).to(device)).split([len(tensor) for tensor in tensors])
        else:
            padded = nn.utils.rnn.pad_sequence(tensors, batch_first=True).to(device)
            counts = [len(tensor) for tensor in tensors]
            mask = torch.arange(padded.shape[1])[None] < torch.tensor(counts)[:, None]
            odds = [row[:n] for row, n in zip(self(padded, mask.to(padded)), counts, strict=True)]
        for index, row in zip(filled, odds, strict=True):
            results[index] = torch.sigmoid(row.double()).cpu().numpy()
        return results

    def save(self, path: str | Path, note: str = "") -> None:
        """Write weights in half precision, with the configuration and a note in the header."""
        from safetensors.torch import save_file

        weights = {
            name: (value if name in ("mean", "scale") else value.half()).contiguous().cpu()
            for name, value in self.state_dict().items()
        }
        save_file(weights, str(path), {"probe": json.dumps(asdict(self.config)), "note": note})

    @classmethod
    def load(cls, path: str | Path) -> Probe:
        """Read what :meth:`save` wrote.

        Raises:
            InvalidInputError: the file is no probe.
        """
        from safetensors import safe_open

        with safe_open(str(path), framework="pt") as stored:
            metadata = stored.metadata() or {}
            if "probe" not in metadata:
                raise InvalidInputError(f"{path} is no delta probe; train one with `rag-guard train delta-probe`")
            weights = {name: stored.get_tensor(name).float() for name in stored.keys()}  # noqa: SIM118
        probe = cls(ProbeConfig.from_dict(json.loads(metadata["probe"])))
        probe.load_state_dict(weights)
        return probe.eval()
