"""What a figure depends on beside the data: versions, the code itself, the machine, the memory it took."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import rag_guard

_PACKAGES = ("numpy", "scikit-learn", "scipy", "onnxruntime", "spacy", "torch", "transformers", "rapidfuzz")
# What cannot change a row's result is left out of the digest of the code.
_UNRELATED_CODE = ("commands", "evaluation", "report", "training")


def peak_rss_mb() -> float | None:
    """Highest resident memory of this process and its finished workers so far, in MB; None on Windows."""
    try:
        import resource
    except ImportError:
        return None
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def environment() -> dict[str, Any]:
    """Versions and machine, to be kept beside every figure."""
    versions = {
        "rag_guard": rag_guard.__version__,
        "code": code_digest(),
        "python": platform.python_version(),
    }
    versions |= {package: found for package in _PACKAGES if (found := _version(package)) is not None}
    machine = {"platform": platform.platform(), "processor": _processor(), "cores": os.cpu_count()}
    return {"versions": versions, "machine": machine}


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


@lru_cache(maxsize=1)
def code_digest() -> str:
    """A digest of the library's code and data files, as far as they can change the result of a check."""
    root = Path(rag_guard.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if relative.parts[0] in _UNRELATED_CODE or "__pycache__" in relative.parts or not path.is_file():
            continue
        digest.update(str(relative).encode() + path.read_bytes())
    return digest.hexdigest()[:16]
