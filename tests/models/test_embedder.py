"""The ONNX embedder on its real model, and what it does where model or input are not as they should be."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_guard.errors import InvalidInputError, ModelNotFoundError
from rag_guard.models import catalog, embedder
from rag_guard.models.embedder import DEFAULT_EMBEDDER, Embedder, OnnxEmbedder, has_embeddings, load_embedder

SENTENCES = [
    "Paris is the capital of France.",
    "The RX-200 router costs 89 euros and was released in March 2019.",
    "Yes.",
    "Zürich hat rund 400 000 Einwohner.",
    "1967",
    "The licence, which was signed by both parties on 3 May, ends after twelve months unless it is renewed.",
    "東京は日本の首都です。",
    "Water boils at 100 °C (212 °F) at sea level.",
    "capital",
    "!!!",
]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder() -> Path:
    return catalog.pull(DEFAULT_EMBEDDER)


@pytest.fixture(scope="module")
def model(folder: Path) -> OnnxEmbedder:
    return OnnxEmbedder(folder, cache_size=0)


def test_vectors_are_unit_float32_rows_in_the_order_of_the_texts(model: OnnxEmbedder) -> None:
    vectors = model.embed(SENTENCES)
    assert isinstance(model, Embedder)
    assert vectors.shape == (len(SENTENCES), model.dimensions) == (len(SENTENCES), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    np.testing.assert_allclose(vectors[3], model.embed([SENTENCES[3]])[0], atol=1e-5)


def test_a_paraphrase_is_nearer_than_another_subject(model: OnnxEmbedder) -> None:
    fact, paraphrase, other = model.embed(
        [
            "Paris is the capital of France.",
            "France's capital city is Paris.",
            "Bananas are rich in potassium.",
        ]
    )
    assert fact @ paraphrase > 0.9
    assert abs(fact @ other) < 0.2


def test_a_batch_equals_single_texts_whatever_the_batch_mates(model: OnnxEmbedder) -> None:
    single = np.concatenate([model.embed([text]) for text in SENTENCES])
    mates = [f"{text} {number}" for number in range(20) for text in SENTENCES]
    for seed in range(3):
        batch = SENTENCES + mates
        random.Random(seed).shuffle(batch)
        vectors = model.embed(batch)
        found = vectors[[batch.index(text) for text in SENTENCES]]
        np.testing.assert_allclose(found, single, atol=1e-5)


def test_the_tokens_of_a_text_are_pooled_by_their_mean(model: OnnxEmbedder, folder: Path) -> None:
    import onnxruntime
    from tokenizers import Tokenizer

    ids = np.array([Tokenizer.from_file(str(folder / "tokenizer.json")).encode(SENTENCES[1]).ids])
    ids = ids[ids != 0][None]  # the file's own padding
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    expected = session.run(None, feed)[0][0].mean(axis=0)
    np.testing.assert_allclose(model.embed([SENTENCES[1]])[0], expected / np.linalg.norm(expected), atol=1e-5)


def test_repeated_texts_are_computed_once_and_equal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = OnnxEmbedder(folder)
    computed: list[str] = []
    encode = cached._encode
    monkeypatch.setattr(cached, "_encode", lambda texts: (computed.extend(texts), encode(texts))[1])
    first = cached.embed(["router", "price", "router"])
    second = cached.embed(["price", "router", "antenna"])
    assert computed == ["router", "price", "antenna"]
    np.testing.assert_array_equal(first[0], first[2])
    np.testing.assert_array_equal(first[[1, 0]], second[:2])


def test_writing_into_a_result_does_not_change_later_results(folder: Path) -> None:
    cached = OnnxEmbedder(folder)
    first = cached.embed(["router"])
    kept = first.copy()
    first[:] = 0.0
    second = cached.embed(["router"])
    second[:] = 0.0
    np.testing.assert_array_equal(cached.embed(["router"]), kept)


def test_the_cache_is_bounded_and_drops_the_least_recent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = OnnxEmbedder(folder, cache_size=3)
    cached.embed(["a", "b", "c"])
    cached.embed(["a"])
    cached.embed(["d"])
    computed: list[str] = []
    encode = cached._encode
    monkeypatch.setattr(cached, "_encode", lambda texts: (computed.extend(texts), encode(texts))[1])
    cached.embed(["a", "c", "d"])
    assert computed == []
    cached.embed([str(number) for number in range(10)])
    assert len(cached._cache._vectors) == 3


def test_threads_share_one_embedder(folder: Path) -> None:
    shared = OnnxEmbedder(folder, cache_size=4)
    expected = OnnxEmbedder(folder, cache_size=0).embed(SENTENCES)

    def work(seed: int) -> bool:
        order = list(range(len(SENTENCES)))
        random.Random(seed).shuffle(order)
        vectors = shared.embed([SENTENCES[index] for index in order])
        return bool(np.allclose(vectors, expected[order], atol=1e-5))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(32)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_can_embed(folder: Path) -> None:
    script = (
        "import os, sys, warnings; warnings.simplefilter('ignore')\n"
        "from rag_guard.models.embedder import OnnxEmbedder\n"
        "model = OnnxEmbedder(sys.argv[1], cache_size=0, threads=2)\n"
        "before = model.embed(['a sentence about routers'])\n"
        "child = os.fork()\n"
        "same = bool(abs(before - model.embed(['a sentence about routers'])).max() < 1e-5)\n"
        "if child == 0: os._exit(0 if same else 1)  # as multiprocessing ends a child\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or not same)\n"
    )
    result = subprocess.run([sys.executable, "-c", script, str(folder)], timeout=60, check=False)
    assert result.returncode == 0


def test_odd_strings_have_vectors(model: OnnxEmbedder) -> None:
    odd = [
        "",
        " ",
        "\ud800",
        "\udfff x",
        "\x00",
        "e\u0301",
        "👩‍👩‍👧",
        "x" * 1_000_000,
        "word " * 200_000,
        "\u202eabc",
    ]
    vectors = model.embed(odd)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert model.embed([]).shape == (0, 384)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=40), max_size=5))
def test_any_strings_have_unit_vectors(texts: list[str]) -> None:
    vectors = load_embedder().embed(texts)
    assert vectors.shape == (len(texts), 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_only_the_first_tokens_of_a_long_text_count(folder: Path) -> None:
    short = OnnxEmbedder(folder, cache_size=0, max_tokens=12)
    words = [f"word{number}" for number in range(40)]
    first, longer = short.embed([" ".join(words[:20]), " ".join(words)])
    np.testing.assert_array_equal(first, longer)


@pytest.mark.parametrize(
    ("texts", "message"),
    [("one string", "pass a sequence"), (["a", 3], r"texts\[1\] is a int"), (b"x", "sequence")],
)
def test_what_is_not_a_sequence_of_strings_is_refused(model: OnnxEmbedder, texts: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        model.embed(texts)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"threads": 0}, {"cache_size": -1}, {"max_tokens": 2}])
def test_a_setting_out_of_range_is_refused(folder: Path, wrong: dict[str, int]) -> None:
    name, value = next(iter(wrong.items()))
    with pytest.raises(InvalidInputError, match=f"{name}={value} must be"):
        OnnxEmbedder(folder, **wrong)


def test_the_model_is_loaded_once_per_process(folder: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: load_embedder(), range(8)))
    assert all(one is found[0] for one in found)
    assert found[0].name == DEFAULT_EMBEDDER
    assert has_embeddings()


def test_a_model_of_ones_own_is_loaded_from_a_registered_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(folder, tmp_path / "my-embedder")
    monkeypatch.setenv("RAG_GUARD_MODELS", str(tmp_path))
    mine = load_embedder("my-embedder")
    assert mine.name == "my-embedder"
    np.testing.assert_allclose(mine.embed(SENTENCES), load_embedder().embed(SENTENCES), atol=1e-5)


def test_a_missing_model_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_GUARD_HOME", str(tmp_path))
    monkeypatch.delenv("RAG_GUARD_MODELS", raising=False)
    assert not has_embeddings()
    with pytest.raises(ModelNotFoundError, match=f"rag-guard models pull {DEFAULT_EMBEDDER}"):
        load_embedder()


def test_a_folder_without_the_tokenizer_is_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "model.onnx", tmp_path)
    with pytest.raises(ModelNotFoundError, match=r"tokenizer\.json"):
        OnnxEmbedder(tmp_path)


def test_without_onnxruntime_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        embedder.importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else find_spec(name)
    )
    assert not has_embeddings()
    with pytest.raises(ImportError, match=r"rag-guard\[embeddings\]"):
        load_embedder()


def test_importing_the_module_loads_no_runtime() -> None:
    script = (
        "import json, sys; import rag_guard.models.embedder;"
        "print(json.dumps([name for name in ('onnxruntime', 'tokenizers', 'torch') if name in sys.modules]))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(result.stdout) == []
