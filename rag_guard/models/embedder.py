"""Text embeddings on the CPU, for the semantic alignment of mentions and for the relevance of windows.

The default model is all-MiniLM-L6-v2 with int8 weights on onnxruntime: mean pooling over the tokens,
then L2 normalisation, as its authors define it (Reimers and Gurevych 2019, "Sentence-BERT").
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rag_guard.errors import InvalidInputError, ModelNotFoundError
from rag_guard.models import catalog

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

Vectors = NDArray[np.float32]

DEFAULT_EMBEDDER = "all-minilm-l6-v2-int8"

_MAX_CHARACTERS = 16_384
"""Characters of a text that are tokenized. Far more than the model's 256 tokens ever cover in real text."""

_BATCH_TOKENS = 2048
"""Tokens in one run of the model, padding included: keeps activations of a run at a few megabytes."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors. Safe to share between threads.

    The vector of a text depends on that text alone, never on the others in the call, so that a verdict does
    not change when unrelated documents come or go.
    """

    @property
    def name(self) -> str:
        """What a report calls this embedder."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts.

        Args:
            texts: any strings, of any number.

        Returns:
            float32 array of shape (len(texts), dimensions); every row has length 1, so that the dot product
            of two rows is their cosine, in [-1, 1].
        """


class OnnxEmbedder:
    """A sentence-transformers style encoder exported to ONNX, run by onnxruntime on the CPU.

    Texts that come again are taken from a cache of bounded size: words and sentences repeat a lot, within one
    report and between reports. A session is opened again after a fork, as its threads do not survive one.

    Args:
        folder: has ``model.onnx``, whose output is the last hidden state (batch, tokens, dimensions),
            and ``tokenizer.json``.
        name: what reports call it; the folder's name if not given.
        threads: threads within one run; as many as this process has cores if not given.
        cache_size: how many vectors are kept; 1536 bytes each with the default model. 0 keeps none.
        max_tokens: a longer text is cut here, special tokens included.

    Raises:
        ModelNotFoundError: the folder lacks one of the two files.
        InvalidInputError: a number is out of range.
        ImportError: onnxruntime or tokenizers is not installed.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        name: str | None = None,
        threads: int | None = None,
        cache_size: int = 16_384,
        max_tokens: int = 256,
    ) -> None:
        if threads is not None and threads < 1:
            raise InvalidInputError(f"threads={threads} must be 1 or more, or None for all cores")
        if cache_size < 0:
            raise InvalidInputError(f"cache_size={cache_size} must be 0 or more")
        if max_tokens < 3:
            raise InvalidInputError(f"max_tokens={max_tokens} must be 3 or more: two are special tokens")
        _require_libraries()
        self._folder = Path(folder)
        for file in ("model.onnx", "tokenizer.json"):
            if not (self._folder / file).is_file():
                raise ModelNotFoundError(f"an embedding model needs {file}, and {self._folder} has none")
        self._name = name if name is not None else self._folder.name
        self._threads = threads if threads is not None else _cores()
        self._max_tokens = max_tokens
        self._lock = threading.Lock()
        self._cache = _VectorCache(cache_size)
        self._tokenizer = _load_tokenizer(self._folder / "tokenizer.json", max_tokens)
        session = self._open_session()
        self._session: InferenceSession | None = session
        self._inputs = frozenset(given.name for given in session.get_inputs())
        self._dimensions = int(session.get_outputs()[0].shape[-1])
        _live_embedders.add(self)

    @property
    def name(self) -> str:
        """What a report calls this embedder."""
        return self._name

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see :meth:`Embedder.embed`.

        Only the beginning of a long text counts: the first ``max_tokens`` tokens.

        Raises:
            TypeError: ``texts`` is one string, or an item is not a string.
        """
        if isinstance(texts, (str, bytes)):
            raise TypeError("texts is one string; pass a sequence of strings: embed([text])")
        texts = list(texts)
        for position, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"texts[{position}] is a {type(text).__name__}; every item must be a string")
        vectors = np.empty((len(texts), self._dimensions), dtype=np.float32)
        positions: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            positions.setdefault(text, []).append(position)
        unseen: list[str] = []
        for text, vector in self._cache.get_many(list(positions)):
            if vector is None:
                unseen.append(text)
            else:
                vectors[positions[text]] = vector
        if unseen:
            fresh = self._encode(unseen)
            for text, vector in zip(unseen, fresh, strict=True):
                vectors[positions[text]] = vector
            self._cache.put_many(unseen, fresh)
        return vectors

    def _encode(self, texts: Sequence[str]) -> Vectors:
        encodings = self._tokenizer.encode_batch([_tokenizable(text) for text in texts])
        lengths = [len(encoding.ids) for encoding in encodings]
        vectors = np.empty((len(texts), self._dimensions), dtype=np.float32)
        session = self._live_session()
        for rows in _batches(lengths):
            ids = np.array([encodings[row].ids for row in rows], dtype=np.int64)
            feed: dict[str, Any] = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
            if "token_type_ids" in self._inputs:
                feed["token_type_ids"] = np.zeros_like(ids)
            hidden = session.run(None, feed)[0]
            pooled = hidden.mean(axis=1, dtype=np.float64)
            norms = np.linalg.norm(pooled, axis=1, keepdims=True)
            vectors[rows] = pooled / np.maximum(norms, 1e-12)
        return vectors

    def _live_session(self) -> InferenceSession:
        session = self._session
        if session is None:
            with self._lock:
                session = self._session = self._session or self._open_session()
        return session

    def _forget_session(self) -> None:
        """In a forked process: the parent's session has no threads here, and its locks may never be released.

        Closing that session would wait for its threads for ever, so one reference to it is never given back.
        """
        if self._session is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._session))
        self._session = None
        self._lock = threading.Lock()
        self._cache = _VectorCache(self._cache.size)

    def _open_session(self) -> InferenceSession:
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        # Idle threads must not spin: the caller's own work and other detectors run on the same cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return InferenceSession(
            str(self._folder / "model.onnx"), sess_options=options, providers=["CPUExecutionProvider"]
        )


class _VectorCache:
    """The most recently used vectors by text, under one lock."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def get_many(self, texts: Sequence[str]) -> list[tuple[str, Vectors | None]]:
        with self._lock:
            found: list[tuple[str, Vectors | None]] = []
            for text in texts:
                vector = self._vectors.get(text)
                if vector is not None:
                    self._vectors.move_to_end(text)
                found.append((text, vector))
            return found

    def put_many(self, texts: Sequence[str], vectors: Vectors) -> None:
        if not self.size:
            return
        # A row is copied, so that it does not keep its whole batch alive.
        newest = zip(texts[-self.size :], vectors[-self.size :], strict=True)
        rows = [(text, vector.copy()) for text, vector in newest]
        with self._lock:
            for text, vector in rows:
                self._vectors[text] = vector
                self._vectors.move_to_end(text)
            while len(self._vectors) > self.size:
                self._vectors.popitem(last=False)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Rows of one token count each.

    Equal lengths need no padding, so a row is computed from its own tokens alone. It was also the fastest
    grouping measured on sentences and on words: padding cost more than fewer runs saved.
    """
    by_length: dict[int, list[int]] = {}
    for row, length in enumerate(lengths):
        by_length.setdefault(length, []).append(row)
    for length, rows in by_length.items():
        step = max(1, _BATCH_TOKENS // max(1, length))
        for start in range(0, len(rows), step):
            yield rows[start : start + step]


def _tokenizable(text: str) -> str:
    """Cut a huge text, and replace lone surrogates, which the tokenizer's UTF-8 cannot hold."""
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _load_tokenizer(file: Path, max_tokens: int) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _missing_libraries() -> list[str]:
    return [library for library in ("onnxruntime", "tokenizers") if importlib.util.find_spec(library) is None]


def _require_libraries() -> None:
    if missing := _missing_libraries():
        raise ImportError(f"embeddings need {' and '.join(missing)}: pip install 'rag-guard[embeddings]'")


_live_embedders: weakref.WeakSet[OnnxEmbedder] = weakref.WeakSet()
_loaded: dict[str, OnnxEmbedder] = {}
_loading = threading.Lock()


def _forget_sessions() -> None:
    global _loading
    _loading = threading.Lock()
    for embedder in list(_live_embedders):
        embedder._forget_session()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_sessions)


def load_embedder(name: str | None = None) -> Embedder:
    """The embedder of a catalog model, opened once per process and shared by everyone who asks for it.

    Args:
        name: a catalog name, or that of a folder of yours under ``RAG_GUARD_MODELS`` with ``model.onnx`` and
            ``tokenizer.json``; the default model if not given.

    Raises:
        ModelNotFoundError: the model is not on this machine; the message names the command that gets it.
        ImportError: onnxruntime or tokenizers is not installed.
    """
    name = name if name is not None else DEFAULT_EMBEDDER
    _require_libraries()
    folder = catalog.path(name)
    with _loading:
        key = str(folder)
        if key not in _loaded:
            _loaded[key] = OnnxEmbedder(folder, name=name)
        return _loaded[key]


def has_embeddings(name: str | None = None) -> bool:
    """Whether :func:`load_embedder` would succeed: the libraries are installed and the model is here."""
    return not _missing_libraries() and catalog.find(name if name is not None else DEFAULT_EMBEDDER) is not None
