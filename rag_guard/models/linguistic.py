"""spaCy pipelines for part-of-speech tags and parses, where one is installed; their callers have fallbacks."""

from __future__ import annotations

import importlib.util
import re
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from rag_guard.errors import ModelNotFoundError
from rag_guard.models import catalog

PIPELINES = {"en": "en-core-web-sm"}
"""ISO 639-1 code to the catalog's model."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNUSED = ("ner", "lemmatizer", "senter")
# The tagger's own tag set, by prefix. spaCy's attribute ruler maps it too, but takes as long as the tagger.
_UNIVERSAL = {"NNP": "PROPN", "NN": "NOUN", "VB": "VERB", "MD": "AUX", "JJ": "ADJ", "RB": "ADV", "CD": "NUM"}


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
                yield {token.idx: _universal(token.tag_) for token in document}


class Parser:
    """A dependency parser for one language that threads may share."""

    def __init__(self, nlp: Any, language: str) -> None:
        self._nlp = nlp
        self._lock = threading.Lock()
        self.language = language

    def parse(self, text: str) -> Any:
        """The parsed spaCy ``Doc`` of one sentence; lone surrogates, which spaCy cannot encode, read as U+FFFD."""
        with self._lock:
            return self._nlp(_SURROGATE.sub("\ufffd", text))


def _universal(tag: str) -> str:
    return next((universal for prefix, universal in _UNIVERSAL.items() if tag.startswith(prefix)), "")


@lru_cache(maxsize=len(PIPELINES))
def load_pipeline(language: str) -> Pipeline | None:
    """The tagger of a language, loaded once; None if spaCy or the model is not installed."""
    nlp = _load(language, exclude=("parser", "attribute_ruler", *_UNUSED))
    return None if nlp is None else Pipeline(nlp, language)


@lru_cache(maxsize=len(PIPELINES))
def load_parser(language: str) -> Parser | None:
    """The parser of a language, loaded once; None if spaCy or the model is not installed."""
    nlp = _load(language, exclude=_UNUSED)
    return None if nlp is None else Parser(nlp, language)


def _load(language: str, exclude: tuple[str, ...]) -> Any | None:
    name = PIPELINES.get(language)
    if name is None or importlib.util.find_spec("spacy") is None:
        return None
    try:
        path = catalog.path(name)
    except ModelNotFoundError:
        return None
    import spacy

    return spacy.load(path, exclude=list(exclude))
