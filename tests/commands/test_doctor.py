from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

import pytest
from typer.testing import CliRunner

from rag_guard import presets
from rag_guard.cli import app
from rag_guard.commands.self_test import DOCUMENT, PAIRS
from rag_guard.detectors.base import Detection
from rag_guard.text.analysis import Analysis


def test_doctor_passes_with_the_installed_detectors() -> None:
    result = CliRunner().invoke(app, ["doctor", "--preset", "fast", "--json"])
    facts = json.loads(result.stdout)
    assert facts["self_test"]["detectors"]
    for detector in facts["self_test"]["detectors"]:
        assert (detector["name"], detector["separated"]) == (detector["name"], len(PAIRS))
    assert [(case["kind"], case["passed"]) for case in facts["self_test"]["cases"]] == [
        (pair.kind, True) for pair in PAIRS
    ]
    assert result.exit_code == 0


def test_doctor_shows_versions_models_and_devices() -> None:
    result = CliRunner().invoke(app, ["doctor", "--preset", "fast", "--json"])
    facts = json.loads(result.stdout)
    assert facts["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert {package["name"] for package in facts["packages"]} >= {"pydantic", "onnxruntime", "torch"}
    assert all(bool(model["path"]) != bool(model["get"]) for model in facts["models"])
    assert facts["devices"]["cores"] >= 1
    shown = CliRunner().invoke(app, ["doctor", "--preset", "fast"]).stdout
    for heading in ("Packages", "Models", "Devices", "Self-test"):
        assert heading in shown


class _Blind:
    """A detector that sees nothing, to make the self-test fail."""

    name, version, threshold = "blind", "1", 0.5

    def detect(self, analyses: Sequence[Analysis]) -> list[Detection]:
        import numpy as np

        from rag_guard.detectors.base import TokenRisks

        empty = TokenRisks(np.zeros((0, 2), dtype=np.int64), np.zeros(0))
        return [Detection(empty) for _ in analyses]


class _Broken(_Blind):
    name = "broken"

    def detect(self, analyses: Sequence[Analysis]) -> list[Detection]:
        raise OSError("weights are damaged")


@pytest.mark.parametrize(("detector", "told"), [(_Blind, "0 of 5"), (_Broken, "weights are damaged")])
def test_doctor_fails_when_a_detector_does(detector: type[_Blind], told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(presets.PRESETS, "fast", lambda: [detector()])
    result = CliRunner().invoke(app, ["doctor", "--preset", "fast"])
    assert result.exit_code == 1
    assert told in result.stdout
    assert "self-test failed" in result.stdout


def test_doctor_tells_why_detectors_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[_Blind]:
        raise ImportError("no module named onnxruntime")

    monkeypatch.setitem(presets.PRESETS, "fast", broken)
    result = CliRunner().invoke(app, ["doctor", "--preset", "fast"])
    assert result.exit_code == 1
    assert "no module named onnxruntime" in result.stdout


def test_self_test_answers_differ_from_the_document_only_where_they_are_wrong() -> None:
    assert len({pair.kind for pair in PAIRS}) == len(PAIRS) == 5
    for pair in PAIRS:
        assert pair.right != pair.wrong
        assert pair.wrong.rstrip(".") not in DOCUMENT


def test_help_and_schema_import_no_heavy_library() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from rag_guard.cli import app; "
        "assert CliRunner().invoke(app, ['check', '--help']).exit_code == 0; "
        "assert CliRunner().invoke(app, ['schema']).exit_code == 0; "
        "print([name for name in ('torch', 'spacy', 'transformers', 'jinja2') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.strip() == "[]"
