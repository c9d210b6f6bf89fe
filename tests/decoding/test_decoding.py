"""From detectors' token risks to spans, verdicts of claims and of citations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_guard import Document, HallucinationGuard
from rag_guard.decoding.combine import combine, project
from rag_guard.decoding.spans import decode_spans
from rag_guard.decoding.verdict import judge
from rag_guard.detectors.base import Detection, Finding, TokenRisks
from rag_guard.schema import Evidence
from rag_guard.text.analysis import Analysis
from rag_guard.text.corpus_cache import corpus_for
from rag_guard.text.words import find_words


def tokens(*items: tuple[int, int, float]) -> TokenRisks:
    offsets = np.array([item[:2] for item in items], dtype=np.int64).reshape(-1, 2)
    return TokenRisks(offsets, np.array([item[2] for item in items]))


def analysis(answer: str, *documents: str, question: str | None = None) -> Analysis:
    own = tuple(Document(text=text) for text in documents)
    return Analysis(answer, own, question, corpus_for(own))


def spans_of(answer: str, risks: dict[str, float], **options):
    words = find_words(answer)
    values = np.array([risks.get(word.text, 0.0) for word in words])
    return decode_spans(answer, words, values, 0.5, **options)


def finding(answer: str, text: str, **values) -> Finding:
    start = answer.index(text)
    return Finding(start, start + len(text), **{"label": "unsupported", "score": 0.9, **values})


# --- project and combine --------------------------------------------------------------------------------------------


def test_a_word_takes_the_highest_of_the_tokens_it_is_made_of():
    words = find_words("unbelievable story")
    risks = project(tokens((0, 2, 0.1), (2, 9, 0.8), (9, 12, 0.3), (12, 18, 0.2)), words)
    assert risks.tolist() == [0.8, 0.2]


def test_a_token_over_several_words_reaches_all_of_them():
    words = find_words("one two three four")
    assert project(tokens((4, 13, 0.7)), words).tolist() == [0.0, 0.7, 0.7, 0.0]


def test_touching_is_not_overlapping():
    words = find_words("ab cd")
    assert project(tokens((2, 3, 0.9)), words).tolist() == [0.0, 0.0]


def test_nothing_projects_to_zeros():
    assert project(tokens(), find_words("one two")).tolist() == [0.0, 0.0]
    assert project(tokens((0, 3, 0.9)), []).tolist() == []


@given(st.text("ab1 .é東", min_size=1, max_size=40), st.data())
def test_projection_equals_the_definition(text, data):
    edges = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=10)))
    pairs = [(a, b) for a, b in itertools.pairwise(edges) if data.draw(st.booleans())]
    own = tokens(*((a, b, data.draw(st.floats(0, 1))) for a, b in pairs))
    words = find_words(text)
    expected = [
        max((r for (a, b), r in zip(own.offsets, own.risks, strict=True) if a < w.end and w.start < b), default=0.0)
        for w in words
    ]
    assert project(own, words).tolist() == expected


def test_detectors_that_ran_count_alike():
    assert combine({"a": np.array([0.2, 1.0]), "b": np.array([0.6, 0.0])}).tolist() == pytest.approx([0.4, 0.5])
    assert combine({"a": np.array([0.2, 1.0])}).tolist() == [0.2, 1.0]


def test_risks_and_offsets_must_have_one_length():
    with pytest.raises(ValueError, match=r"offsets must be \(1, 2\)"):
        TokenRisks(np.zeros((2, 2), dtype=np.int64), np.zeros(1))


# --- spans ----------------------------------------------------------------------------------------------------------


def test_neighbouring_flagged_words_are_one_span_without_the_punctuation_around():
    answer = 'It has a "brass sundial", too.'
    (span,) = spans_of(answer, {"brass": 0.7, "sundial": 0.9})
    assert (span.text, span.start, span.score) == ("brass sundial", 10, 0.9)
    assert (span.label, span.evidence, span.expected, span.claim) == ("unsupported", (), None, None)


def test_the_threshold_itself_flags():
    assert [span.text for span in spans_of("one two", {"one": 0.5, "two": 0.4999})] == ["one"]


def test_the_same_string_twice_is_two_spans():
    spans = spans_of("It took 9 days, not 8 or 9.", {"9": 0.9})
    assert [(span.start, span.text) for span in spans] == [(8, "9"), (25, "9")]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("alpha bravo", ["alpha bravo"]),
        ("alpha, bravo", ["alpha, bravo"]),
        ("alpha\nbravo", ["alpha", "bravo"]),
        ("| alpha | bravo |", ["alpha", "bravo"]),
        ("alpha. bravo", ["alpha", "bravo"]),
        ("東。 京", ["東", "京"]),
    ],
)
def test_spans_end_at_lines_cells_and_sentences(answer, expected):
    risks = dict.fromkeys(("alpha", "bravo", "東", "京"), 0.9)
    assert [span.text for span in spans_of(answer, risks)] == expected


def test_one_finding_may_reach_over_a_full_stop_but_never_over_a_line_or_marker():
    risks = dict.fromkeys(("alpha", "bravo"), 0.9)

    def texts(answer, **options):
        reason = Finding(0, len(answer), "contradicted", 0.9)
        return [span.text for span in spans_of(answer, risks, findings=[reason], **options)]

    assert texts("alpha. bravo") == ["alpha. bravo"]
    assert texts("alpha\nbravo") == ["alpha", "bravo"]
    assert texts("alpha [1] bravo", barriers=[(6, 9)]) == ["alpha", "bravo"]


def test_words_of_different_findings_are_different_spans_with_their_own_reasons():
    answer = "alpha bravo"
    quote = Evidence(document=0, start=0, end=4, quote="zulu")
    findings = [
        finding(answer, "alpha", label="contradicted", expected="zulu", evidence=(quote,), explanation="Zulu."),
        finding(answer, "bravo"),
    ]
    first, second = spans_of(answer, {"alpha": 0.9, "bravo": 0.8}, findings=findings)
    assert (first.text, first.label, first.expected, first.evidence) == ("alpha", "contradicted", "zulu", (quote,))
    assert (first.explanation, second.explanation) == ("Zulu.", "")
    assert (second.text, second.label, second.expected) == ("bravo", "unsupported", None)


def test_the_strongest_finding_over_a_word_owns_it():
    answer = "alpha bravo"
    weak = finding(answer, "alpha bravo", score=0.6)
    strong = finding(answer, "bravo", label="contradicted", score=0.95)
    for findings in ([weak, strong], [strong, weak]):
        spans = spans_of(answer, {"alpha": 0.9, "bravo": 0.9}, findings=findings)
        assert [(span.text, span.label) for span in spans] == [("alpha", "unsupported"), ("bravo", "contradicted")]


def test_votes_are_each_detectors_own_highest_risk_inside_the_span():
    votes = {"a": np.array([0.9, 0.5, 1.0]), "b": np.array([0.7, 0.8, 1.0])}
    (span,) = spans_of("alpha bravo end", {"alpha": 0.8, "bravo": 0.65}, votes=votes)
    assert span.votes == {"a": 0.9, "b": 0.8}


@settings(max_examples=150, deadline=None)
@given(st.text("ab1 .,|\n*é東🙂'-", max_size=50), st.data())
def test_spans_are_sorted_disjoint_word_aligned_and_cover_the_flagged_words(answer, data):
    words = find_words(answer)
    risks = np.array([data.draw(st.sampled_from([0.0, 0.4, 0.5, 1.0])) for _ in words])
    edges = st.integers(0, len(answer))
    ranges = data.draw(st.lists(st.tuples(edges, edges).map(sorted), max_size=3))
    findings = [Finding(a, b, "contradicted", 0.1 * i) for i, (a, b) in enumerate(ranges)]
    spans = decode_spans(answer, words, risks, 0.5, findings=findings)
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
    assert all(answer[span.start : span.end] == span.text for span in spans)
    assert {span.start for span in spans} <= {word.start for word in words}
    assert {span.end for span in spans} <= {word.end for word in words}
    covered = [any(s.start <= w.start and w.end <= s.end for s in spans) for w in words]
    assert covered == (risks >= 0.5).tolist()
    assert not any(char in span.text for span in spans for char in "\n|")


# --- judgement ------------------------------------------------------------------------------------------------------


def everything_risky(example: Analysis) -> Detection:
    return Detection(tokens(*((word.start, word.end, 0.9) for word in example.words)))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "The tower is 9 m tall.",
                "[1]",
                "\n- ",
                "**Bold** claim here",
                "Sure! ",
                " ",
                "\n\n",
                "1. ",
                "東京は9人。",
                "🙂",
            ]
        ),
        max_size=7,
    )
)
def test_spans_stay_inside_claims_and_outside_markers(parts):
    example = analysis(" ".join(parts), "A document.")
    result = judge(example, {"d": everything_risky(example)}, threshold=0.5)
    for span in result.spans:
        assert any(claim.start <= span.start < claim.end for claim in example.claims)
        assert not any(c.start < span.end and span.start < c.end for c in example.citations)
        assert any(char.isalnum() for char in span.text)
        assert "**" not in (span.text[:2], span.text[-2:])
        assert example.claims[span.claim].start <= span.start < example.claims[span.claim].end
    assert result.score == max(result.risks, default=0.0)


def test_abstentions_are_not_flagged_and_not_checked():
    answer = "The tower is tall. The text does not say who built it."
    example = analysis(answer, "The tower is tall.")
    start = answer.index("The text")
    result = judge(example, {"d": everything_risky(example)}, threshold=0.5, abstentions=[(start, len(answer))])
    assert all(span.end <= start for span in result.spans)
    assert [claim.verdict for claim in result.claims] == ["unsupported", "not_checked"]


def test_a_false_abstention_is_one_span_with_the_answer_it_missed():
    answer = "The text does not say who built it."
    example = analysis(answer, "Nils Berg built it.")
    missed = Finding(0, len(answer), "contradicted", 0.9, expected="Nils Berg")
    calm = Detection(tokens(*((word.start, word.end, 0.0) for word in example.words)))
    (span,) = judge(example, {"d": calm}, threshold=0.5, false_abstention=missed).spans
    assert (span.label, span.expected, span.score) == ("contradicted", "Nils Berg", 0.9)


def test_a_claim_is_contradicted_if_any_of_its_spans_is():
    answer = "The tower is brass and 9 m tall."
    example = analysis(answer, "The tower is 8 m tall.")
    detection = Detection(
        tokens(*((w.start, w.end, 0.9 if w.text in ("brass", "9") else 0.1) for w in example.words)),
        (finding(answer, "brass"), finding(answer, "9", label="contradicted")),
    )
    result = judge(example, {"d": detection}, threshold=0.5)
    assert "contradicted" in {claim.verdict for claim in result.claims}
    assert max(claim.score for claim in result.claims) == result.score == 0.9


# --- citations ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guard():
    return HallucinationGuard("fast")


DOCUMENTS = ["The ferry to Holm costs 12 EUR.", "The museum of Lund opened in 1903.", "Owls hunt at night."]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The museum of Lund opened in 1903 [2].", [("[2]", (2,), "supported_by_cited", ())]),
        ("The museum of Lund opened in 1903 [3].", [("[3]", (3,), "misattributed", (2,))]),
        ("The museum of Lund opened in 1903 [1, 2].", [("[1, 2]", (1, 2), "supported_by_cited", ())]),
        ("The museum of Lund opened in 1903 [9].", [("[9]", (9,), "out_of_range", (2,))]),
        ("The museum of Lund opened in 1803 [2].", [("[2]", (2,), "not_checked", ())]),
        (
            "The ferry to Holm costs 12 EUR [1]. The museum of Lund opened in 1903 [1].",
            [("[1]", (1,), "supported_by_cited", ()), ("[1]", (1,), "misattributed", (2,))],
        ),
    ],
)
def test_citations_are_checked_against_what_they_cite(guard, answer, expected):
    report = guard.check(answer, DOCUMENTS)
    assert [(c.text, c.cited, c.status, c.suggested) for c in report.citations] == expected
    for citation in report.citations:
        assert report.answer[citation.start : citation.end] == citation.text
        assert report.claims[citation.claim].start < citation.start


def test_either_of_two_equal_documents_is_a_right_source(guard):
    documents = [DOCUMENTS[1], DOCUMENTS[0], DOCUMENTS[1]]
    for number in (1, 3):
        (citation,) = guard.check(f"The museum of Lund opened in 1903 [{number}].", documents).citations
        assert citation.status == "supported_by_cited"


@pytest.mark.parametrize("marker", ["[1]", "[1][2]", "(Source 1)", "[^1]"])
def test_markers_change_no_verdict_and_are_in_no_span(guard, marker):
    plain = guard.check("The ferry to Holm costs 21 EUR.", DOCUMENTS)
    marked = guard.check(f"The ferry to Holm costs 21 EUR {marker}.", DOCUMENTS)
    assert [(s.start, s.text, s.label) for s in marked.spans] == [(s.start, s.text, s.label) for s in plain.spans]
    assert marked.spans
