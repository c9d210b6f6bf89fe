"""Word similarity for paraphrases: word relations first, then embeddings, else shared spelling.

Words are embedded out of context, so every word of a language is embedded once per process and the many mentions of a
batch cost one call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from rag_guard.models.embedder import Embedder
from rag_guard.text.lexicons.relations import are_antonyms, are_exclusive, are_synonyms
from rag_guard.text.words import Word

SYNONYM = 0.85
_COSINE_FLOOR, _COSINE_CEILING = 0.30, 0.65  # out-of-context word cosines: unrelated to near-synonymous


class WordSimilarity:
    """Similarity in [0, 1] between the words of one batch.

    Args:
        embedder: None leaves relations and spelling.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def prepare(self, norms: Iterable[str]) -> None:
        """Embed all words that will be compared, in one call."""
        missing = sorted(set(norms) - self._vectors.keys())
        if self._embedder is not None and missing:
            self._vectors.update(zip(missing, self._embedder.embed(missing), strict=True))

    def between(self, a: Word, b: Word, language: str | None) -> float:
        """How well ``b`` can stand for ``a``: 1 for the same stem, 0 for unrelated words and for opposites."""
        if a.stem == b.stem:
            return 1.0
        if opposes(a, b, language):
            return 0.0
        if are_synonyms(a.norm, b.norm, language):
            return SYNONYM
        left, right = self._vectors.get(a.norm), self._vectors.get(b.norm)
        if left is None or right is None:
            return 0.0
        cosine = float(left @ right)
        return SYNONYM * min(max((cosine - _COSINE_FLOOR) / (_COSINE_CEILING - _COSINE_FLOOR), 0.0), 1.0)

    def best(self, word: Word, candidates: Sequence[Word], language: str | None) -> tuple[float, Word | None]:
        """The candidate most similar to ``word``; (0, None) without any."""
        best: tuple[float, Word | None] = (0.0, None)
        cosines: dict[str, float] = {}
        vector = self._vectors.get(word.norm)
        if vector is not None and (norms := [c.norm for c in candidates if c.norm in self._vectors]):
            products = np.stack([self._vectors[norm] for norm in norms]) @ vector
            cosines = dict(zip(norms, products.tolist(), strict=True))
        for candidate in candidates:
            if cosines.get(candidate.norm, 1.0) < _COSINE_FLOOR and not are_synonyms(
                word.norm, candidate.norm, language
            ):
                continue
            score = self.between(word, candidate, language)
            if score > best[0]:
                best = (score, candidate)
        return best


def opposes(a: Word, b: Word, language: str | None) -> str | None:
    """``antonym`` or the name of the class of exclusive values both belong to, else None.

    The English relations back up the language's own: few words are opposites in one language and not in the other,
    and a short text's language is easily mistaken.
    """
    for tongue in dict.fromkeys((language, "en")):
        if are_antonyms(a.norm, b.norm, tongue):
            return "antonym"
        if kind := are_exclusive(a.norm, b.norm, tongue):
            return kind
    return None


def is_spelling_variant(a: Word, b: Word) -> bool:
    """Whether two lower-case words are plausibly inflections of one word the stemmer kept apart.

    Names are never variants of each other: one letter tells two people apart.
    """
    if a.text[0].isupper() or b.text[0].isupper() or min(len(a.norm), len(b.norm)) < 5:
        return False
    if any(char.isdigit() for char in a.norm + b.norm):
        return False
    prefix = _common_prefix(a.norm, b.norm)
    return prefix >= 4 and prefix >= 0.6 * max(len(a.norm), len(b.norm)) and fuzz.ratio(a.norm, b.norm) >= 75


def _common_prefix(a: str, b: str) -> int:
    length = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        length += 1
    return length
