"""Fixtures of the detectors' tests."""

from __future__ import annotations

import pytest

from rag_guard import Document, HallucinationGuard, Report
from rag_guard.detectors.entity_alignment import EntityAlignment
from rag_guard.text.analysis import Analysis
from rag_guard.text.corpus_cache import corpus_for


@pytest.fixture(scope="session")
def fast():
    """A guard with entity alignment alone, without any model."""
    return HallucinationGuard(detectors=[EntityAlignment(embedder=None, classifier="rules")])


@pytest.fixture(scope="session")
def analyse():
    def make(answer: str, *documents: str, question: str | None = None) -> Analysis:
        own = tuple(Document(text=text) for text in documents)
        return Analysis(answer, own, question, corpus_for(own))

    return make


@pytest.fixture(scope="session")
def flagged(fast):
    """(text, label, expected) of every span of an answer."""

    def check(answer: str, *documents: str, question: str | None = None) -> list[tuple[str, str, str | None]]:
        report: Report = fast.check(answer, documents, question)
        assert report.status.is_verdict, report.status
        return [(span.text, span.label, span.expected) for span in report.spans]

    return check
