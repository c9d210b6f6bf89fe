"""EAEV in languages with and without a linguistic model, and without any of the optional libraries."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from rag_guard import HallucinationGuard
from rag_guard.detectors.entity_alignment import EntityAlignment, detector
from rag_guard.models import linguistic

PAIRS = [
    ("de", "Das Museum wurde 1912 eröffnet und zeigt alte Karten.", "Das Museum wurde {} eröffnet.", "1912", "1921"),
    ("fr", "Le pont mesure 54 mètres de long et date de 1900.", "Le pont mesure {} mètres de long.", "54", "45"),
    ("es", "La biblioteca abre los viernes a las nueve.", "La biblioteca abre los {}.", "viernes", "martes"),
    ("it", "La torre fu costruita nel 1650 da Carlo Neri.", "La torre fu costruita nel {}.", "1650", "1560"),
    ("ja", "この橋は1958年に完成した。長さは三百メートルである。", "この橋は{}年に完成した。", "1958", "1985"),
    ("zh", "这座图书馆有五万本书，位于海边。", "这座图书馆有{}本书。", "五万", "三万"),
    ("ar", "يبلغ ارتفاع البرج 60 مترا ويقع في المدينة.", "يبلغ ارتفاع البرج {} مترا.", "60", "90"),
    ("hi", "यह पुल 1902 में बना था।", "यह पुल {} में बना था।", "1902", "1920"),
    ("cs", "Most byl postaven v roce 1911 a měří 80 metrů.", "Most byl postaven v roce {}.", "1911", "1991"),
    ("sv", "Bron byggdes 1934 och är 210 meter lång.", "Bron är {} meter lång.", "210", "120"),
]
LANGUAGES = [pair[0] for pair in PAIRS]


@pytest.mark.parametrize(("language", "document", "answer", "right", "wrong"), PAIRS, ids=LANGUAGES)
def test_what_the_document_says_is_supported(fast, language, document, answer, right, wrong):
    report = fast.check(answer.format(right), document)
    assert (report.status, report.spans, report.language) == ("supported", (), language)


@pytest.mark.parametrize(("language", "document", "answer", "right", "wrong"), PAIRS, ids=LANGUAGES)
def test_what_it_says_otherwise_is_contradicted(fast, language, document, answer, right, wrong):
    report = fast.check(answer.format(wrong), document)
    (span,) = report.spans
    assert (span.text, span.label) == (wrong, "contradicted")
    assert right in span.expected
    assert right in span.evidence[0].quote


@pytest.mark.parametrize(("language", "document", "answer", "right", "wrong"), PAIRS, ids=LANGUAGES)
def test_a_language_without_a_linguistic_model_is_named_in_the_warnings(fast, language, document, answer, right, wrong):
    (warning,) = fast.check(answer.format(right), document).warnings
    assert f"language {language!r}" in warning
    assert "no linguistic model" in warning


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("Der Laden öffnet nicht am Sonntag.", "Der Laden öffnet am Sonntag."),
        ("Le musée n'est pas ouvert aux chiens.", "Le musée est ouvert aux chiens."),
        ("El museo no acepta perros grandes.", "El museo acepta perros grandes."),
    ],
)
def test_an_added_negation_is_contradicted_in_other_languages(fast, answer, document):
    report = fast.check(answer, document)
    assert "contradicted" in {span.label for span in report.spans}
    assert fast.check(document, document).spans == ()


def test_a_language_with_a_model_has_no_warning():
    if linguistic.load_pipeline("en") is None:
        pytest.skip("no spaCy model for English here")
    guard = HallucinationGuard(detectors=[EntityAlignment(embedder=None)])
    assert guard.check("The bridge over the river is old.", "The bridge over the river is old.").warnings == ()
    assert guard.check("Die Brücke über den Fluss ist alt.", "Die Brücke über den Fluss ist alt.").warnings


def test_an_answer_whose_language_cannot_be_told_says_so(fast):
    report = fast.check("4711", "4711")
    assert report.status == "supported"
    if report.language is None:
        assert "could not be told" in report.warnings[0]


def test_without_spacy_and_embeddings_it_works_and_says_so(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "spacy" else found(name, *rest)
    )
    monkeypatch.setattr(detector, "has_embeddings", lambda: False)
    linguistic.load_pipeline.cache_clear()
    try:
        report = HallucinationGuard("balanced").check("The bridge is 120 m long.", "The bridge is 95 m long.")
    finally:
        linguistic.load_pipeline.cache_clear()
    assert [(span.text, span.expected) for span in report.spans] == [("120", "95 m")]
    assert "no linguistic model" in report.warnings[0]


def test_the_fast_preset_imports_no_model_library():
    code = (
        "import sys; from rag_guard import HallucinationGuard;"
        "r = HallucinationGuard('fast').check('It is 120 m long.', 'It is 95 m long.');"
        "assert r.spans, r;"
        "print([m for m in ('torch', 'spacy', 'onnxruntime', 'transformers', 'langchain_core', 'llama_index')"
        " if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert result.stdout.strip() == "[]"
