"""spaCy pipelines for part-of-speech tags, where one is installed; entity alignment has a fallback without them."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from rag_guard.errors import ModelNotFoundError
from rag_guard.models import catalog

PIPELINES = {"en": "en-core-web-sm"}
"""ISO 639-1 code to the catalog's model."""

_UNUSED = ("parser", "ner", "lemmatizer", "senter")


class Pipeline:
    """A tagger for one language that threads may share: spaCy's string store is not safe to grow from two at once."""

    def __init__(self, nlp: Any, language: str) -> None:
        self._nlp = nlp
        self._lock = threading.Lock()
        self.language = language

    def tag(self, texts: Sequence[str]) -> Iterator[dict[int, str]]:
        """Per text, the universal part-of-speech tag of the token at each start offset."""
        with self._lock:
            for document in self._nlp.pipe(texts):
                yield {token.idx: token.pos_ for token in document}


@lru_cache(maxsize=len(PIPELINES))
def load_pipeline(language: str) -> Pipeline | None:
    """The pipeline of a language, loaded once; None if spaCy or the model is not installed."""
    name = PIPELINES.get(language)
    if name is None or importlib.util.find_spec("spacy") is None:
        return None
    try:
        path = catalog.path(name)
    except ModelNotFoundError:
        return None
    import spacy

    return Pipeline(spacy.load(path, exclude=list(_UNUSED)), language)
