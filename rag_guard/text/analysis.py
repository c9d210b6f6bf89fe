"""One example, read once: everything detectors want to know about its texts, computed on first use and then kept.

Documents are analysed once per distinct set of documents (:class:`~rag_guard.text.corpus.Corpus`), so that the many
answers that share documents share their windows, words and quantities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rag_guard.schema import Document
from rag_guard.text.citations import CitationMarker, find_citations
from rag_guard.text.claims import ClaimRange, find_claims
from rag_guard.text.corpus import Corpus
from rag_guard.text.language import detect_language
from rag_guard.text.quantities import Quantity, find_quantities
from rag_guard.text.words import Word, find_words


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
        return detect_language(self.answer, context=self.documents[0].text if self.documents else None)

    @cached_property
    def citations(self) -> list[CitationMarker]:
        """Citation markers of the answer; they are markers, not text."""
        return find_citations(self.answer)

    @cached_property
    def claims(self) -> list[ClaimRange]:
        """The claims of the answer in order; filler and headings are not among them."""
        return find_claims(self.answer, language=self.language, citations=self.citations)

    @cached_property
    def words(self) -> list[Word]:
        """All words of the answer: the grid on which detectors' risks are combined."""
        return find_words(self.answer)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Quantities of the answer, citation markers and list numbers left out."""
        masked = mask(self.answer, [(c.start, c.end) for c in self.citations])
        return [
            quantity
            for quantity in find_quantities(masked, self.language)
            if any(claim.start <= quantity.start and quantity.end <= claim.end for claim in self.claims)
        ]


def mask(text: str, ranges: list[tuple[int, int]]) -> str:
    """``text`` with the ``ranges`` blanked by spaces, so that offsets stay as they are."""
    for start, end in ranges:
        text = text[:start] + " " * (end - start) + text[end:]
    return text
