"""Which answers need no detector, and which abstentions are false."""

from __future__ import annotations

import pytest

from rag_guard.preflight import Preflight, preflight
from rag_guard.schema import Document, Status
from rag_guard.text.analysis import Analysis
from rag_guard.text.corpus_cache import corpus_for


def check(answer: str, documents: list[str], question: str | None = None) -> Preflight:
    texts = tuple(Document(text=text) for text in documents)
    return preflight(Analysis(answer, texts, question, corpus_for(texts)))


FEE = ["The fee is 12 EUR."]


@pytest.mark.parametrize(
    "answer", ["", "  \n", "...", "👍", "Sure, let me look into that.", "Hi! Happy to help.", "[1]"]
)
def test_answer_without_anything_to_check_has_no_claims(answer: str) -> None:
    assert check(answer, FEE).status is Status.NO_CLAIMS
    assert check(answer, []).status is Status.NO_CLAIMS


@pytest.mark.parametrize("documents", [[], ["", "   "], ["\u00a0", "---"]])
def test_claims_without_readable_documents_have_no_context(documents: list[str]) -> None:
    assert check("The fee is 12 EUR.", documents).status is Status.NO_CONTEXT


@pytest.mark.parametrize("answer", ["The fee is 12 EUR.", "1967", "Yes.", "Paris", "I adore winter holidays."])
def test_claims_with_documents_go_on_to_detectors(answer: str) -> None:
    assert check(answer, FEE) == Preflight()


def test_abstention_needs_no_documents() -> None:
    assert check("I don't know.", []).status is Status.ABSTAINED


def test_honest_abstention_is_abstained() -> None:
    flight = check(
        "The provided text does not mention who built it.",
        ["The castle was sold in 1810."],
        "Who built the castle?",
    )
    assert flight.status is Status.ABSTAINED
    assert flight.kinds == ("not_in_documents",)


def test_abstention_beside_a_claim_is_exposed_and_the_rest_is_checked() -> None:
    answer = "The castle was sold in 1810. The text does not say who built it."
    flight = check(answer, ["The castle was sold in 1810."], "Who built the castle?")
    assert flight.status is None
    assert [answer[start:end] for start, end in flight.abstentions] == ["The text does not say who built it."]
    assert flight.false_abstention is None


@pytest.mark.parametrize(
    ("question", "document", "expected"),
    [
        ("How many stomach chambers does a goat have?", "A goat has four stomach chambers.", "four"),
        ("When was the bridge opened?", "It rained. The bridge was opened in 1931.", "1931"),
        ("Who designed the tower?", "The tower was designed by Petra Lind in 1903.", "Petra Lind"),
        ("Who is the director of Orbit Labs?", "Marta Ruiz is the director of Orbit Labs.", "Marta Ruiz"),
        ("Where is the clinic located?", "The clinic is located in Oslo.", "Oslo"),
        ("How much does the pass cost?", "The pass costs 30 EUR.", "30 EUR"),
        ("Wann wurde die Brücke eröffnet?", "Die Brücke wurde am 1. Mai 2020 eröffnet.", "1. Mai 2020"),
        ("Quand le pont a-t-il ouvert ?", "Le pont a ouvert en 1931.", "1931"),
    ],
)
def test_abstention_although_the_documents_answer_is_contradicted(question: str, document: str, expected: str) -> None:
    answer = "The source gives no number."
    flight = check(answer, ["  ", document], question)
    assert flight.status is None
    assert flight.abstentions == ()
    finding = flight.false_abstention
    assert finding is not None
    assert (answer[finding.start : finding.end], finding.label) == (answer, "contradicted")
    assert finding.expected == expected
    evidence = finding.evidence[0]
    assert evidence.document == 1
    assert document[evidence.start : evidence.end] == evidence.quote
    assert expected in evidence.quote


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("Who built the castle?", "The castle was sold in 1810."),
        ("Who designed the tower?", "The tower was designed in 1903."),
        ("When was the bridge demolished?", "The bridge was opened in 1931."),
        ("How old is Marta Ruiz?", "Marta Ruiz joined Orbit Labs in 2015."),
        (
            "How many rooms does the inn have?",
            "The inn has rooms with a view; it was built by 3 brothers in 1900.",
        ),
        ("How many rooms does the inn have?", "How many rooms does the inn have? We counted 3 rooms twice?"),
        ("What is the capital of Norway?", "In May, Tom visited the capital of Norway."),
        ("Why is the sky blue?", "The sky is blue because of 3 things."),
        ("Is the pool open?", "The pool is open until 10 PM."),
        ("When was the bridge opened in 1931?", "The bridge was opened in 1931."),
        (None, "The castle was built by Petra Lind."),
    ],
)
def test_honest_abstention_is_never_called_false(question: str | None, document: str) -> None:
    assert check("I don't know.", [document], question).status is Status.ABSTAINED


def test_a_refusal_is_no_false_abstention() -> None:
    flight = check("I'm sorry, but I can't help with that.", ["The pass costs 30 EUR."], "How much does the pass cost?")
    assert (flight.status, flight.kinds) == (Status.ABSTAINED, ("refusal",))
