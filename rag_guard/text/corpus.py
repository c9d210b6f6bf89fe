"""The documents of an example, analysed once and shared by every answer that is checked against them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag_guard.schema import Document
from rag_guard.text.language import detect_language
from rag_guard.text.quantities import Agreement, Quantity, compare, find_quantities
from rag_guard.text.windows import Field, Window, find_windows
from rag_guard.text.words import Word, find_words

_NEAR = 0.5


class Corpus:
    """Windows, words and quantities of a set of documents, each computed on first use.

    Attributes:
        documents: as given, in the caller's order; ``Window.document`` indexes them.
    """

    def __init__(self, documents: tuple[Document, ...]) -> None:
        self.documents = documents

    @cached_property
    def language(self) -> str | None:
        """ISO 639-1 code of the documents, from the longest one."""
        longest = max((document.text for document in self.documents), key=len, default="")
        return detect_language(longest) if longest else None

    @cached_property
    def is_blank(self) -> bool:
        """Whether no document has a letter or digit."""
        return not any(char.isalnum() for document in self.documents for char in document.text)

    @cached_property
    def windows(self) -> list[Window]:
        """All evidence windows in document order. Documents that repeat an earlier one word for word add none."""
        windows: list[Window] = []
        seen: set[str] = set()
        for index, document in enumerate(self.documents):
            if document.text not in seen:
                seen.add(document.text)
                windows.extend(find_windows(document.text, index, self.language))
        return windows

    @cached_property
    def window_words(self) -> list[list[Word]]:
        """Per window, its words with offsets into the document."""
        by_document = {
            index: find_words(self.documents[index].text, self.language)
            for index in sorted({window.document for window in self.windows})
        }
        result: list[list[Word]] = []
        cursor = dict.fromkeys(by_document, 0)
        for window in self.windows:
            words = by_document[window.document]
            position = cursor[window.document]
            while position > 0 and words[position - 1].start >= window.start:
                position -= 1
            while position < len(words) and words[position].start < window.start:
                position += 1
            end = position
            while end < len(words) and words[end].end <= window.end:
                end += 1
            cursor[window.document] = end
            result.append(words[position:end])
        return result

    @cached_property
    def context_words(self) -> list[list[Word]]:
        """Per window, the words of the ranges that give it its meaning: headings, table headers, keys."""
        cache: dict[tuple[int, int, int], list[Word]] = {}
        result = []
        for window in self.windows:
            words: list[Word] = []
            for start, end in window.context:
                key = (window.document, start, end)
                if key not in cache:
                    text = self.documents[window.document].text[start:end]
                    cache[key] = [
                        word._replace(start=word.start + start, end=word.end + start)
                        for word in find_words(text, self.language)
                    ]
                words.extend(cache[key])
            result.append(words)
        return result

    @cached_property
    def window_quantities(self) -> list[list[Quantity]]:
        """Per window, its quantities with offsets into the document."""
        by_document: dict[int, list[Quantity]] = {}
        result: list[list[Quantity]] = []
        for window in self.windows:
            if window.document not in by_document:
                text = self.documents[window.document].text
                by_document[window.document] = find_quantities(text, self.language)
            result.append([q for q in by_document[window.document] if window.start <= q.start and q.end <= window.end])
        return result

    @cached_property
    def postings(self) -> dict[str, list[int]]:
        """Stem to the windows whose own text has it, ascending."""
        postings: dict[str, list[int]] = {}
        for index, words in enumerate(self.window_words):
            for stem in {word.stem for word in words if not word.is_function}:
                postings.setdefault(stem, []).append(index)
        return postings

    @cached_property
    def context_stems(self) -> list[frozenset[str]]:
        """Per window, the content stems of its context."""
        return [frozenset(word.stem for word in words if not word.is_function) for words in self.context_words]

    @cached_property
    def stems(self) -> list[frozenset[str]]:
        """Per window, the content stems of its own text."""
        return [frozenset(word.stem for word in words if not word.is_function) for words in self.window_words]

    @cached_property
    def _context_counts(self) -> Counter[str]:
        return Counter(stem for stems in self.context_stems for stem in stems)

    def has_stem(self, stem: str) -> bool:
        """Whether any window or context has a stem."""
        return stem in self.postings or stem in self._context_counts

    def neighbour_stems(self, index: int) -> frozenset[str]:
        """Content stems of the windows directly before and after in the same document."""
        near = self._near.get(index)
        if near is None:
            document = self.windows[index].document
            others = [o for o in (index - 1, index + 1) if 0 <= o < len(self.windows)]
            beside = [self.stems[o] for o in others if self.windows[o].document == document]
            near = self._near[index] = frozenset().union(*beside)
        return near

    @cached_property
    def _near(self) -> dict[int, frozenset[str]]:
        return {}

    def variants(self, prefix: str) -> dict[Word, list[int]]:
        """Content words that begin with ``prefix`` (four characters) and the windows that have them."""
        return self._prefixes.get(prefix, {})

    @cached_property
    def _prefixes(self) -> dict[str, dict[Word, list[int]]]:
        prefixes: dict[str, dict[str, tuple[Word, list[int]]]] = {}
        for index, words in enumerate(self.window_words):
            for word in words:
                if len(word.norm) >= 5 and not word.is_function:
                    prefixes.setdefault(word.norm[:4], {}).setdefault(word.norm, (word, []))[1].append(index)
        return {prefix: dict(entries.values()) for prefix, entries in prefixes.items()}

    def window_text(self, index: int) -> str:
        """The text of a window."""
        window = self.windows[index]
        return self.documents[window.document].text[window.start : window.end]

    @cached_property
    def distinct_quantities(self) -> list[tuple[Quantity, list[int]]]:
        """Every distinct quantity with the windows that state it, ascending."""
        distinct: dict[tuple[object, ...], tuple[Quantity, list[int]]] = {}
        for index, quantities in enumerate(self.window_quantities):
            for q in quantities:
                windows = distinct.setdefault(_quantity_key(q), (q, []))[1]
                if not windows or windows[-1] != index:
                    windows.append(index)
        return list(distinct.values())

    def windows_agreeing(self, quantity: Quantity) -> list[int]:
        """Windows that state a quantity equal to or compatible with ``quantity``, ascending."""
        key = _quantity_key(quantity)
        cached = self._agreeing.get(key)
        if cached is None:
            found: set[int] = set()
            for position in self._comparable_quantities(quantity):
                other, windows = self.distinct_quantities[position]
                if compare(quantity, other) in (Agreement.EQUAL, Agreement.APPROXIMATE):
                    found.update(windows)
            cached = self._agreeing[key] = sorted(found)
        return cached

    @cached_property
    def _agreeing(self) -> dict[tuple[object, ...], list[int]]:
        return {}

    def is_only_value(self, quantity: Quantity) -> bool:
        """Whether the documents state no other value of the dimension of one of their quantities."""
        key = _quantity_key(quantity)
        only = self._only.get(key)
        if only is None:
            only = self._only[key] = not any(
                compare(quantity, other) is Agreement.DIFFERENT for other, _ in self.distinct_quantities
            )
        return only

    @cached_property
    def _only(self) -> dict[tuple[object, ...], bool]:
        return {}

    def _comparable_quantities(self, quantity: Quantity) -> Iterable[int]:
        """Positions in ``distinct_quantities`` whose values are near enough for the full comparison.

        Only bare numbers can be told by size alone: units convert, dates and notations have other readings.
        """
        lows, highs = self._magnitudes
        if not _is_plain(quantity):
            return range(len(lows))
        assert quantity.low is not None
        assert quantity.high is not None
        near = (highs >= _NEAR * quantity.low) & (lows * _NEAR <= quantity.high)
        return np.flatnonzero(near | np.isnan(lows)).tolist()

    @cached_property
    def _magnitudes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper values of the distinct quantities; NaN where size alone tells nothing."""
        plain = [_is_plain(quantity) for quantity, _ in self.distinct_quantities]
        lows = [q.low if p else math.nan for (q, _), p in zip(self.distinct_quantities, plain, strict=True)]
        highs = [q.high if p else math.nan for (q, _), p in zip(self.distinct_quantities, plain, strict=True)]
        return np.array(lows, dtype=np.float64), np.array(highs, dtype=np.float64)

    @cached_property
    def norms(self) -> Counter[str]:
        """How often each normal form occurs in the documents."""
        counts = Counter(word.norm for words in self.window_words for word in words)
        counts.update({word.norm for words in self.context_words for word in words})
        return counts

    @cached_property
    def name_words(self) -> dict[str, list[Word]]:
        """Words of the fields' readable names, by name."""
        return {}

    @cached_property
    def truth_fields(self) -> list[tuple[int, Field, bool]]:
        """Fields that say yes or no, with their window and truth value."""
        return [
            (index, field, truth)
            for index, window in enumerate(self.windows)
            for field in window.fields
            if (truth := field.polarity) is not None
        ]

    def own_name(self, index: int, field: Field) -> list[Word]:
        """The words of a field's name without a prefix that it shares with three or more fields of its window."""
        words = self.name_of(field)
        if len(words) < 2:
            return words
        shared = sum(1 for other in self.windows[index].fields if self.name_of(other)[:1] == words[:1])
        return words[1:] if shared >= 3 else words

    def name_of(self, field: Field) -> list[Word]:
        """The words of a field's readable name."""
        cached = self.name_words.get(field.name)
        if cached is None:
            cached = self.name_words[field.name] = find_words(field.name, self.language or "en")
        return cached

    def joined_text(self, index: int) -> str:
        """A window's letters and digits in normal form without anything between them, for compounds and CJK runs."""
        joined = self._joined.get(index)
        if joined is None:
            words = (*self.window_words[index], *self.context_words[index])
            joined = self._joined[index] = "".join(word.norm for word in words)
        return joined

    @cached_property
    def _joined(self) -> dict[int, str]:
        return {}

    @cached_property
    def acronyms(self) -> dict[str, int]:
        """Initials of every run of two to six capitalised words, to the first window that has the run."""
        initials: dict[str, int] = {}
        for index, words in enumerate(self.window_words):
            for start in range(len(words)):
                letters = ""
                for word in words[start : start + 9]:
                    if word.is_function:
                        continue
                    if not word.text[0].isupper():
                        break
                    letters += word.norm[0]
                    if 2 <= len(letters) <= 6:
                        initials.setdefault(letters, index)
        return initials

    @cached_property
    def _short_forms(self) -> dict[str, list[tuple[Word, int]]]:
        """Capitalised words of two to four letters, by first letter, with the first window that has each."""
        forms: dict[str, list[tuple[Word, int]]] = {}
        seen: set[str] = set()
        for index, words in enumerate(self.window_words):
            for word in words:
                if (
                    2 <= len(word.text) <= 4
                    and word.text[0].isupper()
                    and word.text.isalpha()
                    and word.text not in seen
                ):
                    seen.add(word.text)
                    forms.setdefault(word.norm[0], []).append((word, index))
        return forms

    def abbreviation(self, norm: str) -> int | None:
        """The first window with a short form of a longer name: CA for California, Dr for Drive or Doctor.

        All capitals keep the order of the name's letters; others are its beginning, or its first and last letters.
        """
        for form, index in self._short_forms.get(norm[:1], ()):
            if len(norm) < len(form.norm) + 2:
                continue
            letters = iter(norm)
            in_order = all(letter in letters for letter in form.norm)
            ends = norm.startswith(form.norm) or (len(form.norm) == 2 and norm[-1] == form.norm[-1])
            if in_order if form.text.isupper() else ends:
                return index
        return None

    def is_one_name(self, norms: list[str]) -> bool:
        """Whether the documents somewhere have all these words side by side as one capitalised name."""
        wanted = set(norms)
        for words in self.window_words:
            for start, word in enumerate(words):
                if word.norm in wanted and word.text[0].isupper():
                    run = words[start : start + len(wanted)]
                    if {other.norm for other in run} == wanted and all(other.text[0].isupper() for other in run):
                        return True
        return False

    def content_words(self, index: int) -> list[Word]:
        """The content words of a window's own text."""
        cached = self._content.get(index)
        if cached is None:
            cached = self._content[index] = [word for word in self.window_words[index] if not word.is_function]
        return cached

    @cached_property
    def _content(self) -> dict[int, list[Word]]:
        return {}

    @cached_property
    def _cased(self) -> dict[str, tuple[int, int]]:
        """Per normal form, how often it occurs with and without an initial capital (sentence openings left out)."""
        counts: dict[str, tuple[int, int]] = {}
        for words in self.window_words:
            for position, word in enumerate(words):
                upper, lower = counts.get(word.norm, (0, 0))
                if word.text[0].isupper():
                    counts[word.norm] = (upper + (position > 0), lower)
                else:
                    counts[word.norm] = (upper, lower + 1)
        return counts

    def is_cased_name(self, norm: str) -> bool:
        """Whether the documents write a word with a capital inside sentences and never without."""
        upper, lower = self._cased.get(norm, (0, 0))
        return upper > 0 and lower == 0

    def idf(self, stem: str) -> float:
        """Inverse window frequency of a stem, in (0, 1]; 1 for stems the documents do not have.

        A stem that only headings and headers have is as frequent as the windows below them: the name of a column tells
        no row from another.
        """
        total = len(self.windows) + 1
        count = len(self.postings.get(stem, ())) or self._context_counts[stem]
        return math.log(1 + total / (1 + count)) / math.log(1 + total)


def _quantity_key(quantity: Quantity) -> tuple[object, ...]:
    return (quantity.kind, quantity.text, quantity.low, quantity.high, quantity.unit, quantity.approximate)


def _is_plain(quantity: Quantity) -> bool:
    """Whether a quantity is a positive bare number with one reading."""
    return (
        quantity.kind == "number"
        and quantity.unit is None
        and quantity.alternative is None
        and quantity.low is not None
        and quantity.high is not None
        and quantity.low > 0
    )
