"""The example runs from start to end with the real model and shows what it promises."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from rag_guard.models import catalog

EXAMPLES = Path(__file__).parents[2] / "examples"

pytest.importorskip("langchain_huggingface")
pytest.importorskip("bm25s")


@pytest.fixture(scope="module")
def quickstart() -> ModuleType:
    spec = importlib.util.spec_from_file_location("quickstart", EXAMPLES / "quickstart.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # pydantic resolves the retriever's annotations there
    spec.loader.exec_module(module)
    return module


def test_documents_are_many_short_and_distinct(quickstart: ModuleType) -> None:
    documents = quickstart.load_documents(quickstart.DATA)

    assert len(documents) >= 40
    assert len({document.id for document in documents}) == len(documents)
    assert all(5 < len(document.page_content.split()) < 150 for document in documents)
    (record,) = [document for document in documents if document.id == "device"]
    assert json.loads(record.page_content)["model"] == "Sturmvogel S2"


def test_retrieval_finds_the_text_that_answers(quickstart: ModuleType) -> None:
    retriever = quickstart.BM25Retriever(documents=quickstart.load_documents(quickstart.DATA))
    answers = ("manual-4", "prices", "manual-3", "manual-15", "release_notes-2", "faq-2", "manual-6", "prices")
    answers += ("manual-17", "faq-6")

    for question, identifier in zip(quickstart.QUESTIONS, answers, strict=True):
        assert identifier in [document.id for document in retriever.invoke(question)], question


@pytest.mark.slow
def test_quickstart_shows_answers_and_writes_the_report(tmp_path: Path) -> None:
    if catalog.find("smollm2-135m-instruct") is None:
        pytest.skip("the model is not on this machine: rag-guard models pull smollm2-135m-instruct")
    output = tmp_path / "report.html"

    done = subprocess.run(
        [sys.executable, EXAMPLES / "quickstart.py", "--questions", "2", "--output", output],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )

    assert done.returncode == 0, done.stderr
    assert "1/2 How long do lithium cells last in the mast?" in done.stdout
    assert done.stdout.count("[hallucinated") + done.stdout.count("[supported") == 2
    page = output.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert "How long do lithium cells last in the mast?" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
