"""Print the running environment as a pip constraints file, with markers where a release left old Pythons."""

from __future__ import annotations

import re
from importlib.metadata import Distribution, distributions

from packaging.specifiers import SpecifierSet

SUPPORTED = ("3.10", "3.11", "3.12", "3.13")
OWN = {"rag-guard", "langchain-rag-guard", "llama-index-postprocessor-rag-guard"}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pin(distribution: Distribution) -> str:
    # A local label such as "+cpu" names a build, not a release, and exists on one index only.
    version = distribution.version.partition("+")[0]
    requires = SpecifierSet(distribution.metadata.get("Requires-Python") or "")
    oldest = next(python for python in SUPPORTED if requires.contains(f"{python}.99"))
    marker = "" if oldest == SUPPORTED[0] else f' ; python_version >= "{oldest}"'
    return f"{canonical(distribution.metadata['Name'])}=={version}{marker}"


def main() -> None:
    pins = {pin(found) for found in distributions() if canonical(found.metadata["Name"]) not in OWN}
    print("# Versions that make demo and make test install; written by make constraints.")
    print("\n".join(sorted(pins)))


if __name__ == "__main__":
    main()
