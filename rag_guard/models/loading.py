"""Load a causal LM from the catalog, a folder, a GGUF file or the local Hugging Face cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Literal

import torch

from rag_guard.errors import InvalidInputError, ModelNotFoundError
from rag_guard.models import catalog
from rag_guard.models.causal_lm import CausalLM

DEFAULT_CAUSAL_LM = "smollm2-135m-instruct"

Dtype = Literal["auto", "bfloat16", "float16", "float32"]


def load_causal_lm(
    source: str | Path = DEFAULT_CAUSAL_LM,
    *,
    device: str = "auto",
    dtype: Dtype = "auto",
    window: int | None = None,
    max_rows: int = 4096,
    prefix_cache_bytes: int = 256 << 20,
    allow_download: bool = False,
) -> CausalLM:
    """Load a causal LM for scoring.

    A GGUF file is dequantised once; the result is kept as safetensors beside the models, so that later
    loads take seconds. Only safetensors and GGUF weights are read, and no code that comes with a model is
    run.

    Args:
        source: a name from the catalog, a folder, a ``.gguf`` file, or a Hugging Face model name.
        device: ``auto`` takes CUDA where there is one.
        dtype: ``auto`` takes bfloat16 where the processor computes in it, else float32 (float16 on older
            GPUs).
        window: most tokens in one sequence; the model's own limit if None.
        max_rows: token rows of one packed forward.
        prefix_cache_bytes: keys and values of earlier prompts to keep.
        allow_download: whether a Hugging Face name may be fetched from the hub.

    Raises:
        ModelNotFoundError: nothing of this name is on this machine.
        InvalidInputError: the folder holds no model that can be read, or the device does not exist.
    """
    place, model, tokenizer = load_weights(source, device=device, dtype=dtype, allow_download=allow_download)
    return CausalLM(model.to(place), tokenizer, window=window, max_rows=max_rows, prefix_cache_bytes=prefix_cache_bytes)


def load_weights(
    source: str | Path = DEFAULT_CAUSAL_LM, *, device: str = "auto", dtype: Dtype = "auto", allow_download: bool = False
) -> tuple[torch.device, Any, Any]:
    """The device to use, a Hugging Face model not yet on it, and its tokenizer; see :func:`load_causal_lm`."""
    place = resolve_device(device)
    precision = resolve_dtype(dtype, place)
    folder, gguf = _locate(str(source))
    try:
        if gguf is not None:
            return place, *_load_gguf(gguf, precision)
        return place, *_load(str(folder or source), precision, local=not allow_download)
    except OSError as error:
        raise ModelNotFoundError(
            f"no causal LM {str(source)!r} on this machine ({error}); pass a folder, a .gguf file, "
            "a name from `rag-guard models list`, or allow_download=True for a Hugging Face name"
        ) from error


def resolve_device(device: str) -> torch.device:
    """``auto`` as a device that exists.

    Raises:
        InvalidInputError: CUDA is asked for and not there.
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    place = torch.device(device)
    if place.type == "cuda" and not torch.cuda.is_available():
        raise InvalidInputError(f"device={device!r}, but torch sees no CUDA device; use device='cpu' or 'auto'")
    return place


def resolve_dtype(dtype: Dtype, device: torch.device) -> torch.dtype:
    """``auto`` as the fastest precision that ``device`` computes in natively.

    Raises:
        InvalidInputError: for an unknown precision.
    """
    if dtype != "auto":
        chosen = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}.get(dtype)
        if chosen is None:
            raise InvalidInputError(f"dtype={dtype!r}; use auto, bfloat16, float16 or float32")
        return chosen
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    native = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return torch.bfloat16 if device.type == "cpu" and native is not None and native() else torch.float32


def _locate(source: str) -> tuple[Path | None, Path | None]:
    """The folder and the GGUF file that ``source`` names; both None leaves a Hugging Face name."""
    path = Path(source).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        return path.parent, path
    folder: Path | None = path if path.is_dir() else None
    if folder is None and any(entry.name == source for entry in catalog.list_models()):
        folder = catalog.path(source)
    if folder is None:
        return None, None
    files = sorted(folder.glob("*.gguf"))
    if files and not (folder / "config.json").is_file():
        return folder, files[0]
    return folder, None


def _load(source: str, dtype: torch.dtype, *, local: bool) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=local)
    model = AutoModelForCausalLM.from_pretrained(source, dtype=dtype, local_files_only=local, use_safetensors=True)
    return model, tokenizer


def _load_gguf(file: Path, dtype: torch.dtype) -> tuple[Any, Any]:
    folder = _dequantised_folder(file, dtype)
    if not (folder / "config.json").is_file():
        from filelock import FileLock

        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / f".{folder.name}.lock"):
            if not (folder / "config.json").is_file():
                _dequantise(file, dtype, folder)
    return _load(str(folder), dtype, local=True)


def _dequantised_folder(file: Path, dtype: torch.dtype) -> Path:
    """One folder per content and precision. The head holds every tensor's place, so with the size it tells
    files apart.
    """
    size = file.stat().st_size
    with file.open("rb") as stream:
        head = stream.read(1 << 22)
        stream.seek(max(size - (1 << 20), 0))
        digest = hashlib.sha256(head + stream.read() + str(size).encode()).hexdigest()[:16]
    return catalog.home() / "dequantised" / f"{file.stem}-{digest}-{str(dtype).removeprefix('torch.')}"


def _dequantise(file: Path, dtype: torch.dtype, folder: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import quantization_config

    extra: dict[str, Any] = {}
    # Newer versions keep the weights packed unless told otherwise; older ones always unpack.
    if (packed := getattr(quantization_config, "GgufConfig", None)) is not None:
        extra["quantization_config"] = packed(dequantize=True)
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=dtype, local_files_only=True, **extra
    )
    work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        model.save_pretrained(work)
        tokenizer.save_pretrained(work)
        os.replace(work, folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
