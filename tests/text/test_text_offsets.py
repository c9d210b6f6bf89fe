"""Properties of all ranges that the text modules hand out, on texts nobody would write."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_guard.text.abstentions import find_abstentions
from rag_guard.text.blocks import find_blocks, find_cells, find_markup
from rag_guard.text.citations import find_citations
from rag_guard.text.claims import find_claims
from rag_guard.text.language import detect_language
from rag_guard.text.sentences import find_sentences

FRAGMENTS = st.sampled_from(
    [
        "The hall seats 900.", "Dr. Lee", " e.g. ", "am 1. Mai 2020", "東京は大きい。", "यह है।", "نعم؟",
        "e\u0301",
        "\U0001f468\u200d\U0001f469", "\ud800", "\u00a0", "\r\n", "\n\n", "\n", "\r", "\u2028", "\t", "**",
        "_", "*", "`",
        "```", "~~~py\n", "| a | b |\n|---|---|\n", "|", "- ", "1. ", "2) ", "# ", "> ", "[1]", "[2][5]",
        "(Source 3)",
        "[^1]", "【1】", "[1](http://x.y)", "[x](z)", "<br>", "<b>", "\\*", "---", "===", ";",
        ", but it is ", ": ", "!?",
        "...", "…", "\"", "”", "(", ")", "«", "\u200f", "\ufeff", "\x00", "🎉", "⁵", "½",
        "Sure, here is it:", "I don't know.",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(codec=None), max_size=80),
    st.lists(st.one_of(FRAGMENTS, st.text(max_size=6)), max_size=14).map("".join),
)
LANGUAGES = st.sampled_from([None, "en", "de", "fr", "zh", "ja", "hi", "ar", "fi", "xx"])


def check_ranges(text: str, ranges: list[tuple[int, int]]) -> None:
    position = 0
    for start, end in ranges:
        assert position <= start < end <= len(text)
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
        position = end


@given(TEXTS)
@settings(max_examples=300, deadline=None)
@example("> \n>")
@example("*a\u0301*")
@example("| a |\n|---|\n| \\| |")
def test_blocks_are_trimmed_ordered_and_apart(text: str) -> None:
    blocks = find_blocks(text)
    check_ranges(text, [(block.start, block.end) for block in blocks])
    for block in blocks:
        check_ranges(text, find_cells(text, block))


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_no_letter_outside_blocks_unless_it_is_markup(text: str) -> None:
    covered = [(block.start, block.end) for block in find_blocks(text)] + find_markup(text)
    for index, char in enumerate(text):
        if char.isalnum():
            assert any(start <= index < end for start, end in covered), (index, char)


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_markup_ranges_are_ordered_and_apart(text: str) -> None:
    position = 0
    for start, end in find_markup(text):
        assert position <= start < end <= len(text)
        position = end


@given(TEXTS, LANGUAGES)
@settings(max_examples=300, deadline=None)
def test_sentences_are_trimmed_ordered_and_inside_blocks(text: str, language: str | None) -> None:
    sentences = find_sentences(text, language)
    check_ranges(text, sentences)
    blocks = find_blocks(text)
    for start, end in sentences:
        assert any(block.start <= start and end <= block.end for block in blocks)


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_citations_are_ordered_and_name_numbers(text: str) -> None:
    position = 0
    for marker in find_citations(text):
        assert position <= marker.start < marker.end <= len(text)
        assert marker.numbers
        assert all(0 <= number <= 999 for number in marker.numbers)
        position = marker.end


@given(TEXTS, LANGUAGES)
@settings(max_examples=500, deadline=None)
@example("[1] [2]", None)
@example("A [1].", "en")
@example("(A [1])", "en")
@example('"A" [1]."', "en")
def test_claims_are_trimmed_ordered_and_free_of_markers_at_their_edges(text: str, language: str | None) -> None:
    citations = find_citations(text)
    claims = find_claims(text, language, citations)
    check_ranges(text, [(claim.start, claim.end) for claim in claims])
    for claim in claims:
        assert claim.context_start <= claim.start < claim.end <= claim.context_end <= len(text)
        assert any(char.isalnum() for char in text[claim.start : claim.end])
        if claim.kind == "code":
            continue
        for marker in citations:
            assert not marker.start <= claim.start < marker.end
            assert not marker.start < claim.end <= marker.end
    assert len(find_abstentions(text, claims, language)) <= len(claims)


@given(TEXTS, TEXTS)
@settings(max_examples=200, deadline=None)
def test_language_never_raises(text: str, context: str) -> None:
    language = detect_language(text, context)
    assert language is None or (len(language) in (2, 3) and language.islower())


@pytest.mark.parametrize(
    "unit",
    ["(", "*", "[1](", "`", "<a ", "|", "1. ", "> ", ";", "_a", "a\n", "。", "[", "\\", ", and it is "],
)
def test_long_repetitions_are_read_in_linear_time(unit: str) -> None:
    import time

    text = unit * (40_000 // len(unit))
    started = time.perf_counter()
    find_claims(text, "en")
    find_markup(text)
    assert time.perf_counter() - started < 5
