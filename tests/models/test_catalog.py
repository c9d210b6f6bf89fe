"""The model catalog, with real pip on local wheels for the faults and the registry for one real pull."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import subprocess
import sys
import textwrap
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag_guard.cli import app
from rag_guard.errors import ChecksumError, InvalidInputError, ModelNotFoundError
from rag_guard.models import catalog
from rag_guard.models.entry import HubSource, ModelEntry, ModelFile, WheelSource

WEIGHTS = bytes(range(256)) * 64
TOKENIZER = b'{"version": "1.0"}'
MEMBERS = {"weights.safetensors": WEIGHTS, "tokens/tokenizer.json": TOKENIZER}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def build_wheel(folder: Path, distribution: str, contents: dict[str, bytes], version: str = "1.0") -> WheelSource:
    """Write a wheel that pip accepts and return the source that describes it."""
    folder.mkdir(parents=True, exist_ok=True)
    module = distribution.replace("-", "_")
    wheel = folder / f"{module}-{version}-py3-none-any.whl"
    info = f"{module}-{version}.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, data in contents.items():
            archive.writestr(f"{module}/{path}", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(f"{info}/RECORD", "")
    data = wheel.read_bytes()
    members = {path: f"{module}/{path}" for path in contents}
    return WheelSource(distribution, version, sha256(data), len(data), members)


def model_files(contents: dict[str, bytes]) -> tuple[ModelFile, ...]:
    return tuple(ModelFile(path, len(data), sha256(data)) for path, data in contents.items())


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all pip can reach; the cache is a fresh folder too."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("RAG_GUARD_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("RAG_GUARD_MODELS", raising=False)
    return folder


@pytest.fixture
def entry(registry: Path, monkeypatch: pytest.MonkeyPatch) -> ModelEntry:
    source = build_wheel(registry, "rg-toy-weights", MEMBERS)
    toy = ModelEntry("toy", "A toy.", "MIT", model_files(MEMBERS), (source,))
    monkeypatch.setattr(catalog, "KNOWN_MODELS", (toy,))
    return toy


def damage(wheel: Path) -> None:
    data = bytearray(wheel.read_bytes())
    data[len(data) // 3] ^= 0xFF
    wheel.write_bytes(data)


def models_folder() -> Path:
    return catalog.home() / "models"


def assert_nothing_was_left() -> None:
    left = [path.name for path in models_folder().iterdir() if not path.name.endswith(".lock")]
    assert left == []


def test_pull_brings_every_file_and_path_finds_it(entry: ModelEntry) -> None:
    reports: list[tuple[str, int, int]] = []
    folder = catalog.pull("toy", progress=lambda *report: reports.append(report))
    assert folder == catalog.path("toy") == models_folder() / "toy"
    assert {path: (folder / path).read_bytes() for path in MEMBERS} == MEMBERS
    assert reports[-1] == (str(entry.sources[0]), entry.sources[0].size, entry.sources[0].size)
    assert sorted(path.name for path in models_folder().iterdir()) == [".toy.lock", "toy"]


def test_a_second_pull_needs_no_source(entry: ModelEntry, registry: Path) -> None:
    first = catalog.pull("toy")
    for wheel in registry.iterdir():
        wheel.unlink()
    assert catalog.pull("toy") == first


def test_a_corrupted_wheel_is_refused(entry: ModelEntry, registry: Path) -> None:
    damage(next(registry.iterdir()))
    with pytest.raises(ChecksumError, match="the catalog records"):
        catalog.pull("toy")
    assert_nothing_was_left()
    with pytest.raises(ModelNotFoundError):
        catalog.path("toy")


@pytest.mark.parametrize("wrong", [{"sha256": "0" * 64}, {"size": len(WEIGHTS) - 1}, {"size": len(WEIGHTS) + 1}])
def test_a_member_with_the_wrong_hash_or_size_is_refused(
    entry: ModelEntry, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, object]
) -> None:
    files = (replace(entry.files[0], **wrong), entry.files[1])
    monkeypatch.setattr(catalog, "KNOWN_MODELS", (replace(entry, files=files),))
    with pytest.raises(ChecksumError, match=re.escape("weights.safetensors")):
        catalog.pull("toy")
    assert_nothing_was_left()


def test_a_wheel_without_the_member_is_named(entry: ModelEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    source = entry.sources[0]
    source = replace(source, members={**source.members, "weights.safetensors": "elsewhere/w.safetensors"})
    monkeypatch.setattr(catalog, "KNOWN_MODELS", (replace(entry, sources=(source,)),))
    with pytest.raises(ModelNotFoundError, match=re.escape("has no elsewhere/w.safetensors")):
        catalog.pull("toy")


def test_the_next_source_helps_when_the_first_is_damaged(
    entry: ModelEntry, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(next(registry.iterdir()))
    second = build_wheel(registry, "rg-toy-mirror", MEMBERS)
    monkeypatch.setattr(catalog, "KNOWN_MODELS", (replace(entry, sources=(*entry.sources, second)),))
    assert (catalog.pull("toy") / "weights.safetensors").read_bytes() == WEIGHTS


def test_a_model_may_combine_several_packages(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = tuple(
        build_wheel(registry, f"rg-toy-part-{number}", {path: data})
        for number, (path, data) in enumerate(MEMBERS.items())
    )
    monkeypatch.setattr(catalog, "KNOWN_MODELS", (ModelEntry("toy", "A toy.", "MIT", model_files(MEMBERS), sources),))
    folder = catalog.pull("toy")
    assert {path: (folder / path).read_bytes() for path in MEMBERS} == MEMBERS


def test_a_file_that_another_model_has_is_not_fetched_again(entry: ModelEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    twin = ModelEntry("twin", "Shares the tokenizer.", "MIT", (replace(entry.files[1], path="t.json"),))
    monkeypatch.setattr(catalog, "KNOWN_MODELS", (entry, twin))
    with pytest.raises(ModelNotFoundError):
        catalog.pull("twin")
    catalog.pull("toy")
    assert (catalog.pull("twin") / "t.json").read_bytes() == TOKENIZER


def test_the_installed_package_is_used_without_a_registry(
    entry: ModelEntry, registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = next(registry.iterdir())
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    wheel.unlink()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert (catalog.pull("toy") / "weights.safetensors").read_bytes() == WEIGHTS


def test_a_damaged_installed_package_is_not_used(
    entry: ModelEntry, registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(next(registry.iterdir())) as archive:
        archive.extractall(tmp_path / "site")
    (tmp_path / "site" / "rg_toy_weights" / "weights.safetensors").write_bytes(b"x")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert (catalog.pull("toy") / "weights.safetensors").read_bytes() == WEIGHTS


def test_two_processes_that_pull_at_once_fetch_once_and_both_find_it(entry: ModelEntry, tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import pickle, sys, time
        from pathlib import Path
        from rag_guard.models import catalog
        catalog.KNOWN_MODELS = (pickle.loads(bytes.fromhex(sys.argv[1])),)
        Path(sys.argv[2]).touch()
        while not Path(sys.argv[3]).exists():
            time.sleep(0.01)
        calls = []
        folder = catalog.pull("toy", progress=lambda *report: calls.append(report))
        print(len(calls) > 0, (folder / "weights.safetensors").stat().st_size)
        """
    )
    known = pickle.dumps(entry).hex()
    ready = [tmp_path / "ready-0", tmp_path / "ready-1"]
    start = tmp_path / "start"
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", script, known, str(mark), str(start)], stdout=subprocess.PIPE, text=True
        )
        for mark in ready
    ]
    while not all(mark.exists() for mark in ready):
        assert all(worker.poll() is None for worker in workers)
        time.sleep(0.01)
    start.touch()
    outputs = sorted(worker.communicate(timeout=60)[0].split() for worker in workers)
    assert outputs == [["False", str(len(WEIGHTS))], ["True", str(len(WEIGHTS))]]


@pytest.mark.parametrize("harm", ["truncated file", "missing file", "no manifest", "manifest of another version"])
def test_a_half_written_folder_is_not_used_and_is_replaced(entry: ModelEntry, harm: str) -> None:
    folder = catalog.pull("toy")
    if harm == "truncated file":
        (folder / "weights.safetensors").write_bytes(WEIGHTS[:100])
    elif harm == "missing file":
        (folder / "weights.safetensors").unlink()
    elif harm == "no manifest":
        (folder / ".rag_guard.json").unlink()
    else:
        (folder / ".rag_guard.json").write_text(json.dumps({"weights.safetensors": "0" * 64}))
    with pytest.raises(ModelNotFoundError):
        catalog.path("toy")
    assert (catalog.pull("toy") / "weights.safetensors").read_bytes() == WEIGHTS
    assert sorted(path.name for path in models_folder().iterdir()) == [".toy.lock", "toy"]


def test_what_an_interrupted_pull_left_is_removed(entry: ModelEntry) -> None:
    leftover = models_folder() / ".toy.partial-abc"
    leftover.mkdir(parents=True)
    (leftover / "weights.safetensors").write_bytes(WEIGHTS)
    with pytest.raises(ModelNotFoundError):
        catalog.path("toy")
    catalog.pull("toy")
    assert not leftover.exists()


@pytest.mark.parametrize(
    "path",
    ["../weights.onnx", "/weights.onnx", "a/../../weights.onnx", "..\\weights.onnx", "C:weights.onnx", ""],
)
def test_a_path_outside_the_models_folder_is_refused(path: str) -> None:
    with pytest.raises(InvalidInputError, match="stay inside"):
        ModelFile(path, 1, "0" * 64)


@pytest.mark.parametrize("name", ["../toy", "toy/../..", "/etc", "", ".", "..", "a b", "toy\n"])
def test_a_name_that_is_a_path_is_refused(entry: ModelEntry, name: str) -> None:
    with pytest.raises(InvalidInputError, match="model's name"):
        catalog.path(name)
    with pytest.raises(InvalidInputError, match="model's name"):
        catalog.pull(name)


def test_members_that_are_not_listed_are_not_extracted(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = {**MEMBERS, "../../../escaped.txt": b"x", "extra.py": b"raise SystemExit"}
    source = build_wheel(registry, "rg-toy-weights", contents)
    toy = ModelEntry("toy", "A toy.", "MIT", model_files(MEMBERS), (source,))
    monkeypatch.setattr(catalog, "KNOWN_MODELS", (toy,))
    folder = catalog.pull("toy")
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {*MEMBERS, ".rag_guard.json"}
    assert list(tmp_path.rglob("escaped.txt")) == []


@pytest.mark.parametrize("path", ["model.pt", "model.PTH", "a/pytorch_model.bin", "x.pkl", "x.ckpt"])
def test_a_pickle_format_is_refused(path: str) -> None:
    with pytest.raises(InvalidInputError, match="pickle"):
        ModelFile(path, 1, "0" * 64)


def test_a_pickle_under_a_neutral_suffix_is_refused(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = {"lookups.bin": pickle.dumps({"a": 1})}
    source = build_wheel(registry, "rg-toy-weights", contents)
    toy = ModelEntry("toy", "A toy.", "MIT", model_files(contents), (source,))
    monkeypatch.setattr(catalog, "KNOWN_MODELS", (toy,))
    with pytest.raises(ChecksumError, match="pickle"):
        catalog.pull("toy")


def test_when_no_source_answers_the_message_says_what_to_do(entry: ModelEntry, registry: Path) -> None:
    next(registry.iterdir()).unlink()
    with pytest.raises(ModelNotFoundError) as caught:
        catalog.pull("toy")
    message = str(caught.value)
    assert "package rg-toy-weights==1.0: pip could not download it (ERROR: No matching distribution" in message
    assert "RAG_GUARD_MODELS=<folder>" in message
    assert "proxy" in message
    assert_nothing_was_left()


def test_a_missing_model_names_the_command_that_gets_it(entry: ModelEntry) -> None:
    with pytest.raises(ModelNotFoundError) as caught:
        catalog.path("toy")
    message = str(caught.value)
    assert "`rag-guard models pull toy`" in message
    assert "weights.safetensors" in message
    assert str(models_folder() / "toy") in message


def test_an_unknown_model_lists_the_known_ones(entry: ModelEntry) -> None:
    with pytest.raises(ModelNotFoundError, match="the catalog knows toy"):
        catalog.get("tyo")


def test_a_registered_folder_comes_first_and_may_hold_models_of_ones_own(
    entry: ModelEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog.pull("toy")
    for name in ("toy", "mine"):
        (tmp_path / "own" / name).mkdir(parents=True)
    monkeypatch.setenv("RAG_GUARD_MODELS", os.pathsep.join([str(tmp_path / "none"), str(tmp_path / "own")]))
    assert catalog.path("toy") == catalog.pull("toy") == tmp_path / "own" / "toy"
    assert catalog.path("mine") == tmp_path / "own" / "mine"


def test_a_hub_that_does_not_answer_is_given_up_quickly(
    entry: ModelEntry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    hub = HubSource("nobody/nothing", "0" * 40, {path: path for path in MEMBERS})
    monkeypatch.setattr(catalog, "KNOWN_MODELS", (replace(entry, sources=(hub,)),))
    with pytest.raises(ModelNotFoundError, match=re.escape("http://127.0.0.1:9 does not answer")):
        catalog.pull("toy")


def test_files_in_the_hub_cache_are_used_offline_and_verified(
    entry: ModelEntry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    snapshot = tmp_path / "hub" / "models--some--model" / "snapshots" / ("1" * 40)
    for path, data in MEMBERS.items():
        (snapshot / path).parent.mkdir(parents=True, exist_ok=True)
        (snapshot / path).write_bytes(data)
    hub = HubSource("some/model", "1" * 40, {path: path for path in MEMBERS})
    monkeypatch.setattr(catalog, "KNOWN_MODELS", (replace(entry, sources=(hub,)),))
    assert (catalog.pull("toy") / "weights.safetensors").read_bytes() == WEIGHTS

    (models_folder() / "toy" / ".rag_guard.json").unlink()
    (snapshot / "weights.safetensors").write_bytes(WEIGHTS[::-1])
    with pytest.raises(ChecksumError, match=re.escape("hub some/model@11111111")):
        catalog.pull("toy")


def test_every_known_model_is_complete_and_pinned() -> None:
    for known in catalog.list_models():
        paths = {file.path for file in known.files}
        assert len(paths) == len(known.files)
        assert paths == {path for source in known.sources for path in source.members}, known.name
        assert known.licence
        assert known.description
        for file in known.files:
            assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        for source in known.sources:
            pin = source.revision if isinstance(source, HubSource) else source.sha256
            assert re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", pin)
        assert catalog.get(known.name) is known


def test_the_command_lists_pulls_and_finds_models(entry: ModelEntry) -> None:
    run = CliRunner().invoke
    assert run(app, ["models", "list"]).stdout.splitlines()[-1].split() == [
        "toy",
        "0",
        "MB",
        "no",
        "MIT",
        "A",
        "toy.",
    ]
    listed = json.loads(run(app, ["models", "list", "--json"]).stdout)
    assert [(row["name"], row["bytes"], row["path"]) for row in listed] == [("toy", entry.size, None)]
    pulled = run(app, ["models", "pull", "toy"])
    assert pulled.exit_code == 0, pulled.output
    assert run(app, ["models", "path", "toy"]).stdout.strip() == str(models_folder() / "toy")
    listed = json.loads(run(app, ["models", "list", "--json"]).stdout)
    assert listed[0]["path"] == str(models_folder() / "toy")


def test_the_command_reports_a_missing_model_without_a_traceback(registry: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "rag_guard.cli", "models", "path", "all-minilm-l6-v2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert result.stdout == ""
    assert "rag-guard models pull all-minilm-l6-v2" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_a_real_pull_gives_a_pipeline_that_spacy_loads_without_pickle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spacy = pytest.importorskip("spacy")
    srsly = pytest.importorskip("srsly")
    monkeypatch.setenv("RAG_GUARD_HOME", str(tmp_path))
    monkeypatch.delenv("RAG_GUARD_MODELS", raising=False)
    folder = catalog.pull("en-core-web-sm")

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a pickle was loaded")

    for function in ("load", "loads"):
        monkeypatch.setattr(pickle, function, refuse)
        monkeypatch.setattr(srsly.cloudpickle, function, refuse)
    pipeline = spacy.load(folder)
    entities = [(entity.text, entity.label_) for entity in pipeline("Marie Curie was born in Warsaw in 1867.").ents]
    assert ("Warsaw", "GPE") in entities
    assert ("1867", "DATE") in entities
