"""A local causal LM read teacher-forced: how likely, how surprising and how represented is every answer
token.

One pass with the documents and one without, both packed into the same forwards; see :mod:`.tree_attention`
for the layout and :mod:`.windows` for what happens when a context or an answer is longer than the model's
window.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rag_guard.errors import InvalidInputError
from rag_guard.models.packing import AnswerJob, PackedPass, PrefixCache, PromptTree, pack
from rag_guard.models.prompts import PromptBuilder, TokenizedText
from rag_guard.models.tree_attention import ATTENTION_NAME, Plan, register, use_plan
from rag_guard.models.windows import Piece, answer_pieces, prompt_windows

MINIMUM_WINDOW = 16
_LOGIT_ELEMENTS = 1 << 24
"""Logits held at a time (64 MiB in float32), whatever the size of the vocabulary."""


@dataclass(frozen=True)
class ScoreRequest:
    """One answer with the texts of its documents and, if there is one, the question."""

    answer: str
    documents: Sequence[str] = ()
    question: str | None = None


@dataclass(frozen=True)
class AnswerView:
    """What the model makes of an answer's n tokens under one prompt. Natural logarithms; ranks count from 0.

    Attributes:
        log_probs: (n,) at most 0, or None if no logits were asked.
        entropies: (n,) of the distribution that each token was drawn from, at least 0.
        ranks: (n,) how many vocabulary entries were likelier.
        hidden: layer -> (n, width) float32. Layer k is the output of block k, counted from 1; 0 is the
            embeddings; the last one comes after the final norm, as in Hugging Face's ``hidden_states``.
        attention: (n, n) float32, strictly lower triangular, head-averaged attention of each token over the
            answer tokens before it, each row normalised to sum 1 (row 0 is zero).
    """

    log_probs: NDArray[np.float32] | None = None
    entropies: NDArray[np.float32] | None = None
    ranks: NDArray[np.int64] | None = None
    hidden: dict[int, NDArray[np.float32]] = field(default_factory=dict)
    attention: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class ScoredAnswer:
    """An answer's tokens, seen with the documents (one view per context window) and without them."""

    tokens: TokenizedText
    with_documents: tuple[AnswerView, ...]
    without: AnswerView


@dataclass
class Counters:
    """What the model has done so far: forwards, rows through them, rows of logits, prompts found in the
    cache.
    """

    forwards: int = 0
    rows: int = 0
    logit_rows: int = 0
    cached_prompts: int = 0


class _StopForward(Exception):
    pass


class CausalLM:
    """A causal LM and its tokenizer, ready to score answers. Safe to call from several threads (calls take
    turns).

    Args:
        model: a Hugging Face ``PreTrainedModel`` with a language-model head.
        tokenizer: its tokenizer.
        window: most tokens in one sequence; the model's own limit if None or larger.
        max_rows: token rows of one packed forward; bounds memory.
        prefix_cache_bytes: keys and values kept of earlier prompts, least recently used dropped first; 0
            keeps none.

    Raises:
        InvalidInputError: for a window below 16 tokens.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        window: int | None = None,
        max_rows: int = 4096,
        prefix_cache_bytes: int = 256 << 20,
    ) -> None:
        limit = int(getattr(model.config, "max_position_embeddings", 0) or 0) or (window or 4096)
        self.window = min(window, limit) if window else limit
        if self.window < MINIMUM_WINDOW:
            raise InvalidInputError(f"window={self.window} is too small; use {MINIMUM_WINDOW} tokens or more")
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.prompts = PromptBuilder(tokenizer)
        self.max_rows = max_rows
        self.counters = Counters()
        self.packs = bool(getattr(model, "_supports_attention_backend", False))
        if self.packs:
            register()
            model.set_attn_implementation(ATTENTION_NAME)
        self._cache = PrefixCache(prefix_cache_bytes)
        self._lock = threading.Lock()
        self._capture: dict[int, Tensor] = {}
        self._wanted: frozenset[int] = frozenset()
        self._rows: Tensor | None = None
        self._last: int | None = None
        for index, block in enumerate(self._blocks(), start=1):
            block.register_forward_hook(self._hook(index))

    @property
    def depth(self) -> int:
        """Number of blocks."""
        return int(self.model.config.get_text_config().num_hidden_layers)

    @property
    def width(self) -> int:
        """Size of a hidden state."""
        return int(self.model.config.get_text_config().hidden_size)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        device: torch.device = self.model.get_input_embeddings().weight.device
        return device

    def score(
        self,
        requests: Sequence[ScoreRequest],
        *,
        logits: bool = True,
        layers: Sequence[int] = (),
        attention_layer: int | None = None,
        with_documents: bool = True,
        without_documents: bool = True,
    ) -> list[ScoredAnswer]:
        """Score answers with and without their documents; equal prompts and equal answers are computed once.

        Args:
            logits: whether to give log-probabilities, entropies and ranks. Without them the forward stops
                above the highest layer asked for.
            layers: layers whose hidden states are wanted, 0 to ``depth``.
            attention_layer: the block, counted from 1, whose answer attention is wanted.
            with_documents: False skips the pass with documents (``with_documents`` of the result is then
                empty).
            without_documents: False skips the other pass (``without`` is then an empty view).

        Raises:
            InvalidInputError: for a layer the model does not have, or attention of a model that cannot give
                it.
        """
        wanted = self._check_layers(layers, attention_layer)
        if not logits and not wanted and attention_layer is None:
            raise InvalidInputError("nothing asked for: set logits=True, layers, or attention_layer")
        trees: dict[tuple[int, ...], PromptTree] = {}
        tails = bool(wanted) or attention_layer is not None
        planned = []
        for request in requests:
            tokens = self.prompts.tokenize(request.answer)
            total = len(tokens.ids)
            pieces = answer_pieces(total, self.window) if total else []
            contexts: list[list[AnswerJob]] = []
            if with_documents:
                prompts = prompt_windows(self.prompts, request.documents, request.question, self.window, total)
                contexts = [self._jobs(trees, prompt, tokens, pieces, tails) for prompt in prompts]
            bare: list[AnswerJob] = []
            if without_documents:
                (prompt,) = prompt_windows(self.prompts, (), request.question, self.window, total)
                bare = self._jobs(trees, prompt, tokens, pieces, tails)
            planned.append((tokens, pieces, contexts, bare))
        with self._lock, torch.inference_mode():
            for part in pack(trees.values(), self.max_rows if self.packs else 0):
                self._run(part, logits, wanted, attention_layer)
        return [
            ScoredAnswer(
                tokens,
                tuple(self._join(jobs, pieces, len(tokens.ids), wanted) for jobs in contexts),
                self._join(bare, pieces, len(tokens.ids), wanted) if without_documents else AnswerView(),
            )
            for tokens, pieces, contexts, bare in planned
        ]

    def _check_layers(self, layers: Sequence[int], attention_layer: int | None) -> frozenset[int]:
        for layer in layers:
            if not 0 <= layer <= self.depth:
                raise InvalidInputError(f"layers has {layer}; this model has layers 0 to {self.depth}")
        if attention_layer is not None:
            if not 1 <= attention_layer <= self.depth:
                raise InvalidInputError(f"attention_layer={attention_layer}; this model has 1 to {self.depth}")
            if not self.packs:
                name = type(self.model).__name__
                raise InvalidInputError(f"{name} gives no attention of a single layer; use attention_layer=None")
        return frozenset(layers)

    def _jobs(
        self,
        trees: dict[tuple[int, ...], PromptTree],
        prompt: list[int],
        tokens: TokenizedText,
        pieces: list[Piece],
        tails: bool,
    ) -> list[AnswerJob]:
        tree = trees.setdefault(tuple(prompt), PromptTree(tuple(prompt)))
        jobs = []
        for piece in pieces:
            # A token's own row is needed for its hidden state; its probability comes from the row before.
            stop = piece.stop if tails else piece.stop - 1
            known = tuple(tokens.ids[piece.context : stop])
            scored = tuple(tokens.ids[piece.start : piece.stop])
            jobs.append(tree.job(known, scored, piece.start - piece.context))
        return jobs

    def _blocks(self) -> list[torch.nn.Module]:
        for module in self.model.modules():
            if isinstance(module, torch.nn.ModuleList) and len(module) == self.depth:
                return list(module)
        raise InvalidInputError(f"{type(self.model).__name__} has no list of {self.depth} blocks to read")

    def _hook(self, layer: int) -> Any:
        def keep(module: torch.nn.Module, inputs: Any, output: Any) -> None:
            if self._rows is None:
                return
            if layer in self._wanted and layer < self.depth:
                states = output[0] if isinstance(output, tuple) else output
                self._capture[layer] = states[0, self._rows]
            if layer == self._last:
                raise _StopForward

        return keep

    def _run(self, part: PackedPass, logits: bool, wanted: frozenset[int], attention_layer: int | None) -> None:
        deepest = max([*wanted, attention_layer or 0])
        stops = not logits and deepest < self.depth
        need = max(deepest, 1) if stops else self.depth
        layout = part.layout(self._cache if self.packs else None, need)
        self.counters.cached_prompts += layout.cached
        plan = Plan(layout.segments, None if attention_layer is None else attention_layer - 1)
        ids = torch.tensor([layout.ids], device=self.device)
        positions = torch.tensor([layout.positions], device=self.device)
        rows = torch.tensor(layout.answer_rows, device=self.device, dtype=torch.long)
        self._rows, self._wanted, self._capture = rows, wanted, {}
        self._last = need if stops else None
        final: Tensor | None = None
        self.counters.forwards += 1
        self.counters.rows += ids.shape[1]
        try:
            with use_plan(plan):
                output = self.model.base_model(input_ids=ids, position_ids=positions, use_cache=False)
            final = output.last_hidden_state[0, rows]
        except _StopForward:
            pass
        finally:
            self._rows = None
        if self.packs:
            for key, segment in layout.kept:
                self._cache.put(key, segment.collected)
        hidden = self._capture
        self._capture = {}
        if final is not None and self.depth in wanted:
            hidden[self.depth] = final
        if 0 in wanted:
            hidden[0] = self.model.get_input_embeddings()(ids)[0, rows]
        self._distribute(part, layout.segments, plan, final if logits else None, hidden)

    def _distribute(
        self, part: PackedPass, segments: Any, plan: Plan, final: Tensor | None, hidden: dict[int, Tensor]
    ) -> None:
        states = {layer: tensor.float().cpu().numpy() for layer, tensor in hidden.items()}
        predicting: list[int] = []
        targets: list[int] = []
        first = 0
        for job in part.jobs:
            predicting.extend(range(first + job.skip, first + job.skip + len(job.scored)))
            targets.extend(job.scored)
            first += job.rows
        numbers = self._head(final, predicting, targets) if final is not None else None
        first = done = 0
        for job, index in zip(part.jobs, part.child_indices, strict=True):
            count = len(job.scored)
            start = first + 1 + job.skip
            job.hidden = {layer: array[start : start + count] for layer, array in states.items()}
            if numbers is not None:
                log_probs, entropies, ranks = numbers
                job.log_probs = log_probs[done : done + count]
                job.entropies = entropies[done : done + count]
                job.ranks = ranks[done : done + count]
            if index in plan.attentions:
                job.attention = _earlier_attention(plan.attentions[index][1:, 1:])
            first += job.rows
            done += count

    def _head(
        self, final: Tensor, rows: list[int], targets: list[int]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
        head = self.model.get_output_embeddings()
        config = self.model.config.get_text_config()
        scale = getattr(config, "logit_scale", None) or 1.0 / (getattr(config, "logits_scaling", None) or 1.0)
        cap = getattr(config, "final_logit_softcapping", None)
        chunk = max(1, _LOGIT_ELEMENTS // int(head.weight.shape[0]))
        log_probs, entropies, ranks = [], [], []
        for first in range(0, len(rows), chunk):
            at = torch.tensor(rows[first : first + chunk], device=final.device)
            target = torch.tensor(targets[first : first + chunk], device=final.device)[:, None]
            scores = head(final[at]).float()
            if scale != 1.0:
                scores *= scale
            if cap:
                scores = torch.tanh(scores / cap) * cap
            self.counters.logit_rows += len(at)
            own = scores.gather(1, target)
            ranks.append((scores > own).sum(dim=1))
            total = scores.logsumexp(dim=1)
            log_probs.append((own[:, 0] - total).clamp(max=0.0))
            # H = logsumexp(z) - sum softmax(z) z
            weights = torch.exp(scores - total[:, None])
            entropies.append((total - (weights * scores).sum(dim=1)).clamp(min=0.0))
        if not rows:
            empty = np.zeros(0, dtype=np.float32)
            return empty, empty, np.zeros(0, dtype=np.int64)
        return (
            torch.cat(log_probs).cpu().numpy(),
            torch.cat(entropies).cpu().numpy(),
            torch.cat(ranks).cpu().numpy(),
        )

    def _join(self, jobs: list[AnswerJob], pieces: list[Piece], total: int, wanted: frozenset[int]) -> AnswerView:
        if len(jobs) == 1:
            job = jobs[0]
            return AnswerView(job.log_probs, job.entropies, job.ranks, job.hidden, job.attention)
        if not jobs:
            empty = np.zeros(0, dtype=np.float32)
            states = dict.fromkeys(wanted, np.zeros((0, self.width), dtype=np.float32))
            return AnswerView(empty, empty, np.zeros(0, dtype=np.int64), states, np.zeros((0, 0), dtype=np.float32))
        attention = None
        if jobs[0].attention is not None:
            attention = np.zeros((total, total), dtype=np.float32)
            for job, piece in zip(jobs, pieces, strict=True):
                if job.attention is not None:
                    rows = job.attention[piece.start - piece.context :]
                    attention[piece.start : piece.stop, piece.context : piece.stop] = rows
        scored = jobs[0].log_probs is not None
        return AnswerView(
            np.concatenate([job.log_probs for job in jobs if job.log_probs is not None]) if scored else None,
            np.concatenate([job.entropies for job in jobs if job.entropies is not None]) if scored else None,
            np.concatenate([job.ranks for job in jobs if job.ranks is not None]) if scored else None,
            {layer: np.concatenate([job.hidden[layer] for job in jobs]) for layer in jobs[0].hidden},
            attention,
        )


def _earlier_attention(weights: Tensor) -> NDArray[np.float32]:
    earlier = torch.tril(weights.float(), diagonal=-1)
    rows = earlier.sum(dim=1, keepdim=True)
    result: NDArray[np.float32] = torch.where(rows > 0, earlier / rows.clamp(min=1e-30), 0.0).cpu().numpy()
    return result
