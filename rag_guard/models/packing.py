"""Lay out answers under their prompts for packed forwards; keep prompts' keys and values between calls."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rag_guard.models.tree_attention import LayerKeyValues, Segment


@dataclass
class AnswerJob:
    """Answer tokens to score under one prompt, and, after the pass, what came of it.

    Attributes:
        known: answer tokens that the model reads.
        scored: answer tokens that are scored; the first of them is predicted after ``known[:skip]``.
        skip: tokens of ``known`` before the first scored one.
    """

    known: tuple[int, ...]
    scored: tuple[int, ...]
    skip: int
    log_probs: NDArray[np.float32] | None = None
    entropies: NDArray[np.float32] | None = None
    ranks: NDArray[np.int64] | None = None
    hidden: dict[int, NDArray[np.float32]] = field(default_factory=dict)
    attention: NDArray[np.float32] | None = None

    @property
    def rows(self) -> int:
        """Rows of its segment: the prompt's last token and the known ones."""
        return 1 + len(self.known)


@dataclass
class PromptTree:
    """A prompt and the distinct answers under it. The prompt's last token belongs to every answer's own
    rows, because the first answer token is predicted from it."""

    prompt: tuple[int, ...]
    jobs: dict[tuple[tuple[int, ...], tuple[int, ...], int], AnswerJob] = field(default_factory=dict)

    def job(self, known: tuple[int, ...], scored: tuple[int, ...], skip: int) -> AnswerJob:
        """The job for these tokens, new or, for an answer seen before, the same again."""
        return self.jobs.setdefault((known, scored, skip), AnswerJob(known, scored, skip))

    @property
    def prefix(self) -> tuple[int, ...]:
        """The shared rows."""
        return self.prompt[:-1]


class PrefixCache:
    """Keys and values of prompts, least recently used dropped first once ``limit`` bytes are exceeded."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._entries: OrderedDict[tuple[int, ...], tuple[dict[int, LayerKeyValues], int]] = OrderedDict()
        self._size = 0

    def get(self, prefix: tuple[int, ...], layers: int) -> dict[int, LayerKeyValues] | None:
        """Keys and values of at least ``layers`` layers, or None."""
        entry = self._entries.get(prefix)
        if entry is None or len(entry[0]) < layers:
            return None
        self._entries.move_to_end(prefix)
        return entry[0]

    def put(self, prefix: tuple[int, ...], values: dict[int, LayerKeyValues]) -> None:
        """Store; what alone exceeds the limit is not kept."""
        size = sum(key.nbytes + value.nbytes for key, value in values.values())
        old = self._entries.pop(prefix, None)
        if old is not None:
            self._size -= old[1]
        if not values or size > self.limit:
            return
        self._entries[prefix] = (values, size)
        self._size += size
        while self._size > self.limit:
            _, (_, dropped) = self._entries.popitem(last=False)
            self._size -= dropped


@dataclass
class Layout:
    """One packed sequence: token ids, positions, its segments, and the rows that belong to answers, in job
    order.
    """

    ids: list[int]
    positions: list[int]
    segments: list[Segment]
    answer_rows: list[int]
    kept: list[tuple[tuple[int, ...], Segment]]
    cached: int


@dataclass
class PackedPass:
    """The trees (or parts of trees) of one forward."""

    trees: list[tuple[PromptTree, list[AnswerJob]]]
    child_indices: list[int] = field(default_factory=list)

    @property
    def jobs(self) -> list[AnswerJob]:
        """Every job, in the order of its rows."""
        return [job for _, jobs in self.trees for job in jobs]

    def layout(self, cache: PrefixCache | None, layers: int) -> Layout:
        """Place every token. ``cache`` None means one plain sequence: the model does not know segments."""
        layout = Layout([], [], [], [], [], 0)
        self.child_indices = []
        for tree, jobs in self.trees:
            parent = self._place_prefix(layout, tree, cache, layers)
            before = len(tree.prefix)
            for job in jobs:
                tokens = (tree.prompt[-1], *job.known)
                start = len(layout.ids)
                self.child_indices.append(len(layout.segments))
                layout.segments.append(Segment(start, start + len(tokens), parent=parent, answer=True))
                layout.ids.extend(tokens)
                layout.positions.extend(range(before, before + len(tokens)))
                layout.answer_rows.extend(range(start, start + len(tokens)))
        return layout

    @staticmethod
    def _place_prefix(layout: Layout, tree: PromptTree, cache: PrefixCache | None, layers: int) -> int | None:
        prefix = tree.prefix
        if not prefix:
            return None
        found = cache.get(prefix, layers) if cache is not None else None
        start = len(layout.ids)
        if found is not None:
            layout.cached += 1
            layout.segments.append(Segment(start, start, cached=found))
            return len(layout.segments) - 1
        keep = cache is not None and cache.limit > 0
        segment = Segment(start, start + len(prefix), keep=keep)
        layout.segments.append(segment)
        layout.ids.extend(prefix)
        layout.positions.extend(range(len(prefix)))
        if keep:
            layout.kept.append((prefix, segment))
        return len(layout.segments) - 1


def pack(trees: Iterable[PromptTree], max_rows: int) -> Iterator[PackedPass]:
    """Fill forwards up to ``max_rows`` rows, trees in order; a larger tree is split, its prefix then placed
    per part.

    ``max_rows`` 0 gives every answer a forward of its own. A single answer may exceed ``max_rows``.
    """
    part: list[tuple[PromptTree, list[AnswerJob]]] = []
    used = 0
    for tree in trees:
        jobs: list[AnswerJob] = []
        room_for_prefix = len(tree.prefix)
        for job in tree.jobs.values():
            cost = job.rows + (0 if jobs else room_for_prefix)
            if used and used + cost > max_rows:
                if jobs:
                    part.append((tree, jobs))
                    jobs = []
                yield PackedPass(part)
                part, used = [], 0
                cost = job.rows + room_for_prefix
            jobs.append(job)
            used += cost
        if jobs:
            part.append((tree, jobs))
    if part:
        yield PackedPass(part)
