"""The models that the library can run: where they lie, where they come from, and how to get them.

A model is one folder. It is looked for, in this order,

1. in the folders that the environment variable ``RAG_GUARD_MODELS`` lists (separated like ``PATH``), as
   ``<folder>/<name>/``: your own files, used as they are;
2. in the cache, ``$RAG_GUARD_HOME`` or the user's cache folder, where :func:`pull` puts it.

Only :func:`pull` uses the network. Nothing that it fetches is a pickle, and no file is used before its
SHA-256 has been compared with the one recorded in :mod:`rag_guard.models.known`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from pathlib import Path

from rag_guard.errors import ChecksumError, InvalidInputError, ModelNotFoundError
from rag_guard.models.entry import ModelEntry, ModelFile
from rag_guard.models.fetch import Progress, copy_verified, fetch, no_progress
from rag_guard.models.known import KNOWN_MODELS

HOME_VARIABLE = "RAG_GUARD_HOME"
MODELS_VARIABLE = "RAG_GUARD_MODELS"

_MANIFEST = ".rag_guard.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def list_models() -> list[ModelEntry]:
    """Every model that the catalog knows, whether it is on this machine or not."""
    return list(KNOWN_MODELS)


def get(name: str) -> ModelEntry:
    """The entry of a known model.

    Raises:
        ModelNotFoundError: the catalog has no model of this name.
    """
    for entry in KNOWN_MODELS:
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in KNOWN_MODELS)
    raise ModelNotFoundError(
        f"no model is named {name!r}; the catalog knows {known}. To use a model of your own, "
        f"put its files in <folder>/{name}/ and set {MODELS_VARIABLE}=<folder>"
    )


def home() -> Path:
    """The folder for everything that the library keeps between runs; it may not exist yet."""
    if chosen := os.environ.get(HOME_VARIABLE):
        return Path(chosen).expanduser().resolve()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("rag_guard", appauthor=False))


def path(name: str) -> Path:
    """The folder of a model that is on this machine. Never uses the network.

    Args:
        name: a name from the catalog, or that of a folder of yours under ``RAG_GUARD_MODELS``.

    Raises:
        ModelNotFoundError: the model is not on this machine; the message names the command that gets it.
        InvalidInputError: the name is not a plain name.
    """
    found = find(name)
    if found is None:
        entry = get(name)
        looked = [*(str(folder / name) for folder in _registered_folders()), str(_cache_folder(name))]
        largest = sorted(entry.files, key=lambda file: -file.size)[:2]
        raise ModelNotFoundError(
            f"the model {name!r} is not on this machine. Run `rag-guard models pull {name}` "
            f"({entry.size / 1e6:.0f} MB), or put its files ({', '.join(file.path for file in largest)}"
            f"{', ...' if len(entry.files) > 2 else ''}) in <folder>/{name}/ and set "
            f"{MODELS_VARIABLE}=<folder>. "
            f"Looked in: {', '.join(looked)}"
        )
    return found


def find(name: str) -> Path | None:
    """Like :func:`path`, but ``None`` when the model is not on this machine."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidInputError(f"name={name!r} is not a model's name: letters, digits, '.', '_' and '-' only")
    for folder in _registered_folders():
        if (folder / name).is_dir():
            return folder / name
    for entry in KNOWN_MODELS:
        if entry.name == name and _is_complete(_cache_folder(name), entry):
            return _cache_folder(name)
    return None


def pull(name: str, progress: Progress | None = None) -> Path:
    """Get a model onto this machine, and return its folder. Does nothing if it is there already.

    Safe when several processes pull at once: one works, the others wait and find it done. The folder appears
    whole or not at all; what an interrupted pull has left is removed by the next one.

    Args:
        name: a name from the catalog.
        progress: called with what is being fetched, the bytes that have arrived, and the bytes expected.

    Raises:
        ModelNotFoundError: no source has the model; the message says what each one answered and what to do.
        ChecksumError: a source served other bytes than the catalog records, and no other source helped.
    """
    if (found := find(name)) is not None:
        return found
    from filelock import FileLock

    entry = get(name)
    target = _cache_folder(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(target.parent / f".{name}.lock"):
        if not _is_complete(target, entry):
            _fetch_into(target, entry, progress or no_progress)
    return target


def _fetch_into(target: Path, entry: ModelEntry, progress: Progress) -> None:
    """Fill a folder beside ``target`` and rename it. The caller holds the model's lock."""
    prefix = f".{entry.name}.partial-"
    for leftover in target.parent.glob(f"{prefix}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    work = Path(tempfile.mkdtemp(dir=target.parent, prefix=prefix))
    try:
        # Scratch of the sources goes beside the files, so that an interrupted pull leaves one folder.
        files = work / "files"
        files.mkdir()
        _collect(entry, files, progress)
        manifest = {file.path: file.sha256 for file in entry.files}
        (files / _MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        if target.exists():
            os.replace(target, work / "replaced")
        os.replace(files, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _collect(entry: ModelEntry, folder: Path, progress: Progress) -> None:
    missing = {file.path: file for file in entry.files}
    for path_ in _copy_from_other_models(entry, folder):
        del missing[path_]
    failures: list[ModelNotFoundError | ChecksumError] = []
    for source in entry.sources:
        wanted = [file for file in missing.values() if file.path in source.members]
        if not wanted:
            continue
        try:
            fetch(source, wanted, folder, progress)
        except (ModelNotFoundError, ChecksumError) as error:
            failures.append(error)
        else:
            for file in wanted:
                del missing[file.path]
    if not missing:
        return
    answers = "".join(f"\n  - {failure}" for failure in failures)
    advice = (
        f"could not get the model {entry.name!r}: no source has {', '.join(missing)}.{answers}\n"
        "Check that pip reaches its registry (a proxy or a mirror goes into pip's own configuration), or get "
        f"the files on another machine with `rag-guard models pull {entry.name}`, copy the folder that "
        f"`rag-guard models path {entry.name}` prints to <folder>/{entry.name}/ here, and set "
        f"{MODELS_VARIABLE}=<folder>."
    )
    damaged = next((failure for failure in failures if isinstance(failure, ChecksumError)), None)
    raise (ChecksumError if damaged else ModelNotFoundError)(advice) from (damaged or next(iter(failures), None))


def _copy_from_other_models(entry: ModelEntry, folder: Path) -> list[str]:
    """Copy the files that another model on this machine has too, such as a shared tokenizer."""
    copied: list[str] = []
    for other in KNOWN_MODELS:
        if other.name == entry.name or not _is_complete(_cache_folder(other.name), other):
            continue
        by_checksum: dict[str, ModelFile] = {file.sha256: file for file in other.files}
        for file in entry.files:
            twin = by_checksum.get(file.sha256)
            if twin is None or file.path in copied:
                continue
            with (_cache_folder(other.name) / twin.path).open("rb") as stream:
                copy_verified(stream, file, folder, f"the model {other.name}")
            copied.append(file.path)
    return copied


def _registered_folders() -> list[Path]:
    listed = os.environ.get(MODELS_VARIABLE, "")
    return [Path(folder).expanduser() for folder in listed.split(os.pathsep) if folder]


def _cache_folder(name: str) -> Path:
    return home() / "models" / name


def _is_complete(folder: Path, entry: ModelEntry) -> bool:
    """Whether a pull has finished here. Sizes and the manifest are compared; hashing is left to the pull."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        if manifest != {file.path: file.sha256 for file in entry.files}:
            return False
        return all((folder / file.path).stat().st_size == file.size for file in entry.files)
    except (OSError, ValueError):
        return False
