"""Keeps the analyses of recent sets of documents, since many answers are checked against the same ones."""

from __future__ import annotations

import threading
from collections import OrderedDict

from rag_guard.schema import Document
from rag_guard.text.corpus import Corpus

_CACHED_CORPORA = 64
_CACHED_CHARACTERS = 4_000_000


class _CorpusCache:
    """Least-recently-used corpora, bounded in number and in characters, safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._corpora: OrderedDict[tuple[str, ...], Corpus] = OrderedDict()
        self._characters = 0

    def get(self, documents: tuple[Document, ...]) -> Corpus:
        key = tuple(document.text for document in documents)
        with self._lock:
            corpus = self._corpora.pop(key, None)
            if corpus is not None:
                self._corpora[key] = corpus
                return corpus if corpus.documents == documents else _rebind(corpus, documents)
            corpus = self._corpora[key] = Corpus(documents)
            self._characters += sum(map(len, key))
            while len(self._corpora) > 1 and (
                len(self._corpora) > _CACHED_CORPORA or self._characters > _CACHED_CHARACTERS
            ):
                dropped, _ = self._corpora.popitem(last=False)
                self._characters -= sum(map(len, dropped))
            return corpus


def _rebind(corpus: Corpus, documents: tuple[Document, ...]) -> Corpus:
    """The same analysis under documents with the same texts but other ids or metadata."""
    other = Corpus(documents)
    other.__dict__.update({name: value for name, value in corpus.__dict__.items() if name != "documents"})
    return other


_cache = _CorpusCache()


def corpus_for(documents: tuple[Document, ...]) -> Corpus:
    """The analysis of ``documents``, shared with earlier calls on the same texts."""
    return _cache.get(documents)
