"""What must not change a report: the order of documents, unrelated ones. What must not break it: any text."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_guard import Document, Example, HallucinationGuard, Report

TOWER = "The Harbour Tower is 88 m tall and was finished in 1903 by Nils Berg."
FERRY = "The ferry to Holm leaves at 07:40 every weekday and costs 12 EUR."
CLINIC = "Rina Okafor founded the Larkfield clinic in 1998. It has 24 beds."
TABLE = "| city | population | founded |\n|---|---|---|\n| Arden | 12,000 | 1640 |\n| Belmo | 48,000 | 1702 |"
RECORD = '{"name": "Blue Door", "stars": 3.5, "hours": {"Sunday": "10:00-14:00"}, "wifi": true}'
DOCUMENTS = [TOWER, FERRY, CLINIC, TABLE, RECORD]

ANSWERS = [
    "The Harbour Tower is 88 m tall.",
    "The Harbour Tower is 98 m tall and was finished in 1903.",
    "Rina Okafor founded the Larkfield clinic in 1988, and it has 24 beds.",
    "The ferry leaves at 07:40 on weekdays. A ticket is 21 EUR.",
    "Belmo was founded in 1640.",
    "Blue Door has 3.5 stars and a heated swimming pool.",
    "- Arden has 12,000 inhabitants.\n- The tower was built by Nils Berg.\n- The clinic has 42 beds.",
]

UNRELATED = [
    "Knead the dough gently, cover it with a cloth, then let it rest overnight somewhere cool.",
    "Owls hunt silently because soft feathers muffle the turbulence around their wings.",
    "A sonnet usually closes with a couplet that turns its argument around.",
    "Violins are tuned in perfect fifths, while guitars mostly use fourths.",
    "Moss reproduces through spores rather than seeds.",
    "Glaciers grind bedrock into flour so fine that lakes below turn turquoise.",
    "Chess engines evaluate positions by searching a tree of legal moves.",
    "Enamel is the hardest tissue of a mammal.",
    "Quilts were pieced together from worn shirts.",
    "Sourdough starters host wild yeast alongside lactic bacteria.",
]


@pytest.fixture(scope="module")
def guard():
    return HallucinationGuard()


def essence(report: Report) -> dict:
    """A report without what documents' places change: evidence is named by its text, not by its index."""

    def quotes(evidence):
        return [(report.documents[item.document].text, item.start, item.end, item.quote) for item in evidence]

    return {
        "status": report.status,
        "score": pytest.approx(report.score, abs=1e-6),
        "spans": [
            (span.start, span.end, span.label, pytest.approx(span.score, abs=1e-6), span.expected)
            for span in report.spans
        ],
        "evidence": [quotes(span.evidence) for span in report.spans if span.label == "contradicted"],
        "claims": [(claim.start, claim.end, claim.verdict) for claim in report.claims],
    }


@pytest.mark.parametrize("answer", ANSWERS)
def test_reports_do_not_depend_on_the_order_of_documents(guard, answer):
    expected = essence(guard.check(answer, DOCUMENTS))
    for seed in range(4):
        shuffled = random.Random(seed).sample(DOCUMENTS, len(DOCUMENTS))
        assert essence(guard.check(answer, shuffled)) == expected


@pytest.mark.parametrize("answer", ANSWERS)
def test_reports_do_not_depend_on_unrelated_documents(guard, answer):
    expected = essence(guard.check(answer, DOCUMENTS))
    for count in (1, 3, 10):
        padded = [*UNRELATED[: count // 2], *DOCUMENTS, *UNRELATED[count // 2 : count]]
        again = essence(guard.check(answer, padded))
        # Words weigh by how rare they are among the documents, so scores may move, but no verdict.
        assert {**again, "score": None, "spans": [span[:3] for span in again["spans"]]} == {
            **expected,
            "score": None,
            "spans": [span[:3] for span in expected["spans"]],
        }


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_document_given_twice_changes_nothing(guard, answer):
    assert essence(guard.check(answer, DOCUMENTS * 2)) == essence(guard.check(answer, DOCUMENTS))


def test_batches_and_threads_give_what_single_checks_give(guard):
    single = [essence(guard.check(answer, DOCUMENTS)) for answer in ANSWERS]
    batch = guard.check_batch([Example(answer=answer, documents=DOCUMENTS) for answer in ANSWERS])
    assert [essence(report) for report in batch] == single


def test_two_runs_give_identical_reports(guard):
    for answer in ANSWERS:
        first, second = (guard.check(answer, DOCUMENTS).model_dump_json(exclude={"timings_ms"}) for _ in range(2))
        assert first == second


def assert_offsets_slice(report: Report) -> None:
    answer, documents = report.answer, [document.text for document in report.documents]
    mentions = [mention for entity in report.entities for mention in entity.mentions]
    for item in (*report.spans, *report.claims, *report.citations, *mentions):
        assert 0 <= item.start < item.end <= len(answer)
        assert answer[item.start : item.end] == item.text
    evidence = [e for item in (*report.spans, *report.claims) for e in item.evidence]
    evidence += [mention.evidence for mention in mentions if mention.evidence is not None]
    for item in evidence:
        assert documents[item.document][item.start : item.end] == item.quote
    for before, after in itertools.pairwise(report.spans):
        assert before.end <= after.start


PIECES = st.sampled_from(
    [
        "The hall seats 600 people.", "88 m", "**41**", "v2.3.10", "1,5 %", "$2.5M", "14 March 2021",
        "2021-03-14", "not", "never", "Dr. Lee", "Marta Ruiz", "she", "[1]", "(Source 3)", "[^2]", "\r\n",
        "\n\n", "\t", "\u00a0", "\u200b", "\u200d", "\ufeff", "\u202e", "e\u0301", "ﬁ", "İ", "ß", "ſ", "Å",
        "東京の人口は1400万人です。", "مرحبا ١٢٣", "שלום 7", "यह १२ है।", "🎉", "👩\u200d👩\u200d👧",
        "| a | b |\n|---|---|\n| 1 | 2 |\n", "- item\n", "1. one\n", "```py\nx = f(1)\n```", "`code`",
        "<b>9</b>", "[link](http://a.b/1)", '{"a": {"b": [1, null, true]}}', "{'name': 'Blue', 'open': None}",
        "# Head\n", "> quote\n", "½", "²", "Ⅻ", "٪", "−5 °C", "10–12", "...", "¿Qué?", "I don't know.",
        "Sure, let me look into that.", "a" * 300, "\x00", "\x1b[31m", "%s", "{0}", "\\",
    ]
)  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=12), st.just(" ")), max_size=14).map("".join)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answer=TEXTS, documents=st.lists(TEXTS, max_size=3), question=st.one_of(st.none(), TEXTS))
def test_every_offset_slices_back_for_any_text(guard, answer, documents, question):
    report = guard.check(answer, documents, question)
    assert report.status != "error", report.error
    assert report.answer == answer
    assert [document.text for document in report.documents] == documents
    assert_offsets_slice(report)
    assert Report.model_validate_json(report.model_dump_json()) == report


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS, changed=TEXTS)
def test_offsets_slice_for_answers_close_to_their_document(guard, text, changed):
    for answer in (text, text + changed, changed + text):
        report = guard.check(answer, [text])
        assert report.status != "error", report.error
        assert_offsets_slice(report)


@pytest.mark.parametrize("odd", ["\ud800", "a\udfff 9 EUR", "The fee is \ud83d 12 EUR."])
def test_lone_surrogates_do_not_break_a_check(guard, odd):
    report = guard.check(odd, ["The fee is 12 EUR.", Document(text="plain")])
    assert report.status != "error", report.error
    assert_offsets_slice(report)
    assert guard.check("The fee is 12 EUR.", [odd]).status != "error"


@pytest.mark.slow
def test_a_very_long_answer_and_document_are_checked(guard):
    long = " ".join(f"Item {i} costs {i * 7 % 1000} EUR and weighs {i * 3 % 500} kg." for i in range(250))
    report = guard.check(long, [long])
    assert report.status == "supported", [span.text for span in report.spans[:5]]
