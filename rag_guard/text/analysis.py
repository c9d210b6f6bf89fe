"""One example, read once: everything detectors want to know about its texts, computed on first use and then kept.

Documents are analysed once per distinct set of documents (:class:`~rag_guard.text.corpus.Corpus`), so that the many
answers that share documents share their windows, words and quantities.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property

from rag_guard.schema import Document, Evidence
from rag_guard.text.citations import CitationMarker, find_citations, find_references
from rag_guard.text.claims import ClaimRange, find_claims
from rag_guard.text.corpus import Corpus
from rag_guard.text.language import detect_language
from rag_guard.text.quantities import Quantity, find_quantities
from rag_guard.text.relevance import RankedWindow, rank_windows
from rag_guard.text.words import Word, find_words

_WHEN_NOTHING_FITS = 3


@dataclass(frozen=True)
class Analysis:
    """The answer, question and documents of one example with their lazily computed parts.

    Attributes:
        answer: the caller's answer, untouched.
        documents: the documents, in the caller's order.
        question: the question, or None.
        corpus: the shared analysis of ``documents``.
    """

    answer: str
    documents: tuple[Document, ...]
    question: str | None
    corpus: Corpus

    @cached_property
    def language(self) -> str | None:
        """ISO 639-1 code of the answer, or None if it cannot be told."""
        context = max((document.text for document in self.documents), key=len, default=None)
        return detect_language(self.answer, context=context)

    @cached_property
    def citations(self) -> list[CitationMarker]:
        """Citation markers of the answer; they are markers, not text."""
        return find_citations(self.answer)

    @cached_property
    def references(self) -> list[tuple[int, int]]:
        """Ranges of the answer that name a document in running text, as in "Passage 2"."""
        return find_references(self.answer)

    @cached_property
    def claims(self) -> list[ClaimRange]:
        """The claims of the answer in order; filler and headings are not among them."""
        return find_claims(self.answer, language=self.language, citations=self.citations)

    @cached_property
    def words(self) -> list[Word]:
        """All words of the answer: the grid on which detectors' risks are combined."""
        return find_words(self.answer, self.language)

    @cached_property
    def question_words(self) -> list[Word]:
        """The words of the question; empty without one."""
        return find_words(self.question, self.language) if self.question else []

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Quantities inside the answer's claims; citation markers and list numbers are none."""
        markers = [(citation.start, citation.end) for citation in self.citations]
        masked = _mask(self.answer, [*markers, *self.references])
        starts = [claim.start for claim in self.claims]
        found = []
        for quantity in find_quantities(masked, self.language):
            claim = bisect_right(starts, quantity.start) - 1
            if claim >= 0 and quantity.end <= self.claims[claim].end:
                found.append(quantity)
        return found

    @cached_property
    def claim_ranges(self) -> list[range]:
        """Per claim, the indices of its words."""
        starts = [word.start for word in self.words]
        ends = [word.end for word in self.words]
        return [range(bisect_left(starts, claim.start), bisect_right(ends, claim.end)) for claim in self.claims]

    def words_in(self, start: int, end: int) -> range:
        """The indices of the words inside ``[start, end)``."""
        low = bisect_left(self.words, start, key=lambda word: word.start)
        return range(low, max(low, bisect_right(self.words, end, key=lambda word: word.end)))

    @cached_property
    def claim_words(self) -> list[list[Word]]:
        """Per claim, its words."""
        return [[self.words[i] for i in indices] for indices in self.claim_ranges]

    def quantities_in(self, start: int, end: int) -> list[Quantity]:
        """The quantities inside ``[start, end)``."""
        low = bisect_left(self.quantities, start, key=lambda q: q.start)
        return self.quantities[low : max(low, bisect_right(self.quantities, end, key=lambda q: q.end))]

    @cached_property
    def claim_quantities(self) -> list[list[Quantity]]:
        """Per claim, its quantities."""
        return [self.quantities_in(claim.start, claim.end) for claim in self.claims]

    @cached_property
    def quantity_words(self) -> frozenset[int]:
        """Indices of the words that quantities are made of."""
        return frozenset(i for q in self.quantities for i in self.words_in(q.start, q.end))

    def is_word_claim(self, index: int) -> bool:
        """Whether a word of the answer is all there is of its claim, as in a one-word answer."""
        return index in self._word_claims

    @cached_property
    def _word_claims(self) -> frozenset[int]:
        return frozenset(indices[0] for indices in self.claim_ranges if len(indices) == 1)

    @cached_property
    def ranked(self) -> list[list[RankedWindow]]:
        """Per claim, its most relevant windows, best first."""
        return [self.rank(claim) for claim in range(len(self.claims))]

    def rank(self, claim: int, extra: tuple[str, ...] = ()) -> list[RankedWindow]:
        """The most relevant windows of a claim, best first.

        ``extra`` are stems that the claim leaves to its context. A claim of one word or value leaves them to the
        question.
        """
        words, quantities = self.claim_words[claim], self.claim_quantities[claim]
        if len({word.stem for word in words if not word.is_function}) <= 1:
            extra += tuple(word.stem for word in self.question_words if not word.is_function)
        ranked = rank_windows(words, quantities, self.corpus, extra=extra)
        if ranked:
            return ranked
        # Nothing in common: what the documents say instead is still the best evidence there is.
        order = sorted(range(len(self.corpus.windows)), key=self.corpus.window_text)
        return [RankedWindow(window, 0.0, 0.0) for window in order[:_WHEN_NOTHING_FITS]]

    def evidence(self, window: int, relevance: float) -> Evidence:
        """A window of the corpus as evidence."""
        item = self.corpus.windows[window]
        return self.quote(item.document, item.start, item.end, relevance)

    def quote_in(self, window: int, start: int, end: int, relevance: float = 1.0) -> Evidence:
        """A range of a window's document as evidence."""
        return self.quote(self.corpus.windows[window].document, start, end, relevance)

    def quote(self, document: int, start: int, end: int, relevance: float) -> Evidence:
        """A range of a document as evidence."""
        source = self.documents[document]
        return Evidence(
            document=document,
            document_id=source.id,
            start=start,
            end=end,
            quote=source.text[start:end],
            relevance=min(max(relevance, 0.0), 1.0),
            source=source.source,
        )

    def evidence_of(self, claim: int) -> tuple[Evidence, ...]:
        """The windows that cover a claim best, best first."""
        return tuple(self.evidence(item.window, item.relevance) for item in self.ranked[claim])

    def coverage_by_document(self, claim: int) -> dict[int, float]:
        """How much of a claim the best window of each document covers: document index to [0, 1]."""
        ranked = rank_windows(
            self.claim_words[claim], self.claim_quantities[claim], self.corpus, limit=len(self.corpus.windows)
        )
        by_text: dict[str, float] = {}
        for item in ranked:
            text = self.documents[self.corpus.windows[item.window].document].text
            by_text[text] = max(by_text.get(text, 0.0), item.relevance)
        return {i: by_text[document.text] for i, document in enumerate(self.documents) if document.text in by_text}

    def claim_of_citation(self, marker: CitationMarker) -> int | None:
        """Index of the claim a marker stands in or behind: the last one that starts before it."""
        before = [index for index, claim in enumerate(self.claims) if claim.start < marker.start]
        return before[-1] if before else None


def _mask(text: str, ranges: list[tuple[int, int]]) -> str:
    """``text`` with the ``ranges`` blanked by spaces, so that offsets stay as they are."""
    parts: list[str] = []
    position = 0
    for start, end in sorted(ranges):
        start = max(start, position)
        if start < end:
            parts += (text[position:start], " " * (end - start))
            position = end
    return "".join(parts) + text[position:]
