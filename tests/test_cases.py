"""Known failures of hallucination checkers, one per line of the shared cases file, through the public API.

A case names substrings that must be flagged and others that must not. ``flagged`` lists alternatives: a span
must hit at least one of them, tightly.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from pathlib import Path

import pytest

from rag_guard import Example, HallucinationGuard, Report
from rag_guard.text.words import find_words

CASES_FILE = Path(os.environ.get("RAG_GUARD_SHARED", Path(__file__).parents[2] / "shared")) / "cases" / "cases.jsonl"
CASES = (
    [json.loads(line) for line in CASES_FILE.read_text(encoding="utf-8").splitlines()] if CASES_FILE.is_file() else []
)
BY_ID = {case["id"]: case for case in CASES}

pytestmark = pytest.mark.skipif(not CASES, reason=f"no cases at {CASES_FILE}")

# A span may reach over a unit or an article beside the flagged value, not over the sentence.
SLACK = 12

XFAIL: dict[str, str] = {}
"""Case id, or name of a test below, -> why the guard does not get it right yet. A pass then is a failure."""


@pytest.fixture(autouse=True)
def _expected_failure(request):
    name = request.node.name
    key = name.removeprefix("test_case[").removesuffix("]") if name.startswith("test_case[") else name
    if key in XFAIL:
        request.applymarker(pytest.mark.xfail(reason=XFAIL[key], strict=True))


@pytest.fixture(scope="module")
def guard():
    return HallucinationGuard()


@pytest.fixture(scope="module")
def check(guard):
    reports: dict[str, Report] = {}

    def checked(name: str) -> Report:
        if name not in BY_ID:
            pytest.skip(f"{name} is not among the cases")
        if name not in reports:
            case = BY_ID[name]
            reports[name] = guard.check(case["answer"], case["documents"], case["question"] or None)
        return reports[name]

    return checked


def occurrences(text: str, part: str) -> list[tuple[int, int]]:
    """Where ``part`` stands in ``text`` as whole words: "9" is not in "90"."""
    edges = {edge for word in find_words(text) for edge in (word.start, word.end)}
    places = [(i, i + len(part)) for i in range(len(text) - len(part) + 1) if text.startswith(part, i)]
    inside = [(word.start, word.end) for word in find_words(text)]

    def cuts(position: int) -> bool:
        return position not in edges and any(start < position < end for start, end in inside)

    return [(start, end) for start, end in places if not cuts(start) and not cuts(end)] or places


def meets(span, place) -> bool:
    return span.start < place[1] and place[0] < span.end


def hits(span, place) -> bool:
    """Whether a span is about this place: it covers most of it, without reaching far beyond."""
    shared = min(span.end, place[1]) - max(span.start, place[0])
    length = place[1] - place[0]
    return shared > 0 and 2 * shared >= length and (span.end - span.start) <= length + SLACK


def hitting(report: Report, alternatives: list[str]) -> list:
    places = [place for part in alternatives for place in occurrences(report.answer, part)]
    return [span for span in report.spans if any(hits(span, place) for place in places)]


def assert_offsets_slice(report: Report) -> None:
    """Every offset of a report slices the caller's own strings."""
    answer, documents = report.answer, [document.text for document in report.documents]
    located = [
        *report.spans,
        *report.claims,
        *report.citations,
        *(m for e in report.entities for m in e.mentions),
    ]
    for item in located:
        assert 0 <= item.start < item.end <= len(answer)
        assert answer[item.start : item.end] == item.text
    evidence = [e for item in (*report.spans, *report.claims) for e in item.evidence]
    evidence += [m.evidence for e in report.entities for m in e.mentions if m.evidence is not None]
    for item in evidence:
        assert documents[item.document][item.start : item.end] == item.quote
    for edit in report.edits:
        assert 0 <= edit.start <= edit.end <= len(answer)
    assert all(a.end <= b.start for a, b in itertools.pairwise(report.spans))


def described(report: Report) -> str:
    spans = [(span.text, span.label, round(span.score, 3), span.expected) for span in report.spans]
    return f"status {report.status.value}, score {report.score}, spans {spans}"


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case, check):
    report, expected = check(case["id"]), case["expect"]
    assert_offsets_slice(report)
    assert report.status == expected["status"], described(report)
    if expected["status"] != "hallucinated":
        assert not report.spans, described(report)
    if expected["flagged"]:
        hit = hitting(report, expected["flagged"])
        assert hit, described(report)
        assert {span.label for span in hit} == {expected["label"]}, described(report)
    for part in expected["not_flagged"]:
        places = occurrences(report.answer, part)
        assert places, f"{part!r} is not in the answer"
        wrong = [span.text for span in report.spans if any(meets(span, place) for place in places)]
        assert not wrong, f"{part!r} is flagged by {wrong}: {described(report)}"


def test_expected_failures_name_cases_or_tests(request):
    names = {item.name for item in request.session.items if item.path == request.path}
    assert set(XFAIL) <= set(BY_ID) | names


def test_markdown_markers_change_no_verdict_and_stay_outside_the_span(check, guard):
    report = check("markdown-bold-number")
    (span,) = report.spans
    assert "*" not in span.text
    assert report.answer[span.start - 2 : span.start] == "**" == report.answer[span.end : span.end + 2]
    plain = guard.check(report.answer.replace("**", ""), report.documents)
    assert [(s.text, s.label) for s in plain.spans] == [(s.text, s.label) for s in report.spans]
    assert plain.status == report.status


def test_markdown_markers_change_no_clean_verdict(check, guard):
    report = check("markdown-bold-number-ok")
    assert guard.check(report.answer.replace("**", ""), report.documents).status == report.status


@pytest.mark.parametrize("name", ["verbatim-among-filler", "support-only-in-second-window"])
def test_support_is_found_among_any_number_of_documents_in_any_order(name, check, guard):
    report = check(name)
    support = next(document for document in report.documents if not document.text.startswith("Filler"))
    filler = [document for document in report.documents if document is not support]
    for count in range(len(filler) + 1):
        for position in {0, count // 2, count}:
            documents = [*filler[:count]]
            documents.insert(position, support)
            again = guard.check(report.answer, documents)
            assert (again.status, again.spans) == ("supported", ()), (count, position, described(again))
            assert again.score == pytest.approx(report.score, abs=1e-6)


def test_evidence_at_the_very_end_is_cited(check):
    report = check("error-with-evidence-after-filler")
    last = len(report.documents) - 1
    assert any(item.document == last for span in report.spans for item in span.evidence), described(report)


def test_list_markers_are_no_claims(check):
    report = check("list-items")
    assert all(claim.text[0] not in "-12" for claim in report.claims)
    assert [claim.text.rstrip(".") for claim in report.claims] == [
        "The fee is 5 EUR",
        "Pensioners enter free",
        "Open 24/7",
    ]


def test_abbreviations_and_decimals_end_no_sentence(check):
    assert [claim.text for claim in check("abbreviations-one-claim").claims] == [
        BY_ID["abbreviations-one-claim"]["answer"]
    ]


def test_a_value_of_another_row_is_answered_by_the_right_row(check):
    report = check("table-context")
    (span,) = hitting(report, ["12,000"])
    assert any("7,500" in item.quote for item in span.evidence), described(report)


def test_offsets_count_code_points(check):
    report = check("cjk-emoji-offsets")
    span = hitting(report, ["99億"])[0]
    assert span.start <= report.answer.index("99億") < span.end
    assert report.answer.encode()[span.start : span.end] != span.text.encode()


def test_a_span_may_start_at_zero(check):
    assert hitting(check("span-at-zero"), ["Uli"])[0].start == 0


def test_the_same_wrong_string_twice_gives_two_spans(check):
    report = check("same-wrong-string-twice")
    places = occurrences(report.answer, "9")
    assert len(places) == 2
    found = [next(span for span in report.spans if hits(span, place)) for place in places]
    assert found[0].start != found[1].start
    assert len(report.spans) == 2, described(report)


def test_spans_have_no_white_space_around(check):
    for span in check("leading-whitespace").spans:
        assert span.text == span.text.strip()


def test_a_wrong_citation_names_the_right_document(check):
    (citation,) = check("misattributed-citation").citations
    assert (citation.text, citation.cited) == ("[1]", (1,))
    assert (citation.status, citation.suggested) == ("misattributed", (2,))


def test_right_citations_are_markers_and_no_claims(check):
    report = check("citation-markers-ignored")
    assert [(c.text, c.status) for c in report.citations] == [
        ("[1]", "supported_by_cited"),
        ("(Source 2)", "supported_by_cited"),
    ]
    for claim in report.claims:
        assert not any(c.start <= claim.start and claim.end <= c.end for c in report.citations)


def test_a_false_abstention_shows_the_answer_in_the_documents(check):
    report = check("false-abstention")
    assert any("four" in item.quote for span in report.spans for item in span.evidence), described(report)


def test_cases_give_the_same_reports_alone_and_in_one_batch(guard, check):
    cases = random.Random(0).sample(CASES, len(CASES))
    batch = guard.check_batch(
        [Example(answer=c["answer"], documents=c["documents"], question=c["question"] or None) for c in cases]
    )
    for case, together in zip(cases, batch, strict=True):
        alone = check(case["id"])
        assert together.status == alone.status, case["id"]
        assert [(s.start, s.end, s.label) for s in together.spans] == [
            (s.start, s.end, s.label) for s in alone.spans
        ], case["id"]
