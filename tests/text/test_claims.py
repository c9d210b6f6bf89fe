"""What of an answer is a claim, and where exactly it is."""

from __future__ import annotations

import pytest

from rag_guard.text.claims import find_claims


def claims(text: str, language: str | None = "en") -> list[tuple[str, str]]:
    return [(claim.kind, text[claim.start : claim.end]) for claim in find_claims(text, language)]


def texts(text: str, language: str | None = "en") -> list[str]:
    return [claim for _, claim in claims(text, language)]


def test_list_items_without_their_markers_and_lead_in() -> None:
    assert claims("Rules:\n1. The fee is 5 EUR.\n2. Pensioners enter free.\n- Open 24/7") == [
        ("list_item", "The fee is 5 EUR."), ("list_item", "Pensioners enter free."),
        ("list_item", "Open 24/7"),
    ]  # fmt: skip


@pytest.mark.parametrize("answer", ["1967", "Yes.", "Paris", "Blue", "**888**", "# 1967", "New York", "東京"])
def test_one_checkable_word_is_a_claim(answer: str) -> None:
    assert [kind for kind, _ in claims(answer, None)] == ["word"]


@pytest.mark.parametrize("answer", ["I adore winter holidays.", "Dogs stay free.", "Paris is large."])
def test_a_short_sentence_is_a_sentence(answer: str) -> None:
    assert claims(answer) == [("sentence", answer)]


def test_filler_around_a_claim_is_left_out() -> None:
    answer = "Hi! Happy to help. The bridge opened in 1931. Let me know if you need more!"
    assert texts(answer) == ["The bridge opened in 1931."]
    assert texts("Sure, here is the answer: the fee is 5 EUR.") == ["the fee is 5 EUR."]
    assert texts("Based on the given passages, the fee is 5 EUR.") == ["the fee is 5 EUR."]
    assert texts("Natürlich, hier ist die Antwort: Die Gebühr beträgt 5 EUR.", "de") == ["Die Gebühr beträgt 5 EUR."]


@pytest.mark.parametrize(
    "answer",
    [
        "The document was signed in 1998.",
        "The text was written by Ann Lee.",
        "Answers cost 5 EUR.",
        "Sure Ltd. was sold.",
    ],
)
def test_cue_words_with_content_stay_claims(answer: str) -> None:
    assert texts(answer) == [answer]


def test_a_lead_in_with_a_number_or_a_name_is_a_claim() -> None:
    assert texts("The hotel has 3 pools:\n- north\n- south")[0] == "The hotel has 3 pools"
    assert texts("The architects were Ann and Petra Lind:\n- north")[0] == "The architects were Ann and Petra Lind"
    assert texts("Open a session like this:\n```\nconnect(host)\n```") == ["connect(host)"]


def test_a_question_states_nothing_unless_it_has_a_number() -> None:
    assert texts("What is the fee? It is 5 EUR.") == ["It is 5 EUR."]
    assert texts("Did you know that it has 5 towers?") == ["Did you know that it has 5 towers?"]


def test_headings_are_no_claims_unless_they_state_something() -> None:
    assert texts("# Overview\n\nThe fee is 5.\n\n**Opening hours**\n\nIt opens at 8.") == [
        "The fee is 5.",
        "It opens at 8.",
    ]
    assert texts("## Sales rose by 12% in 2021\n\nThey did.") == ["Sales rose by 12% in 2021", "They did."]
    assert texts("## 1.2 Overview\n\nThe fee is 5.") == ["The fee is 5."]


def test_cells_of_a_table_are_claims_with_their_row_around_them() -> None:
    text = "| city | pop |\n|---|---|\n| Arden | 12,000 |"
    found = find_claims(text, "en")
    assert [text[claim.start : claim.end] for claim in found] == ["Arden", "12,000"]
    assert {text[claim.context_start : claim.context_end] for claim in found} == {"Arden | 12,000"}


def test_emphasis_and_citation_markers_stay_outside() -> None:
    assert texts("**The lake is 888 m deep.**") == ["The lake is 888 m deep."]
    assert texts("The lake is **888** m deep.") == ["The lake is **888** m deep."]
    assert texts("A opened in 1990 [1]. B opened in 1995 (Source 2). [3] C [4] closed.") == [
        "A opened in 1990", "B opened in 1995", "C [4] closed.",
    ]  # fmt: skip
    assert texts("東京の人口は99億人です 🎉", "ja") == ["東京の人口は99億人です"]


@pytest.mark.parametrize(
    ("answer", "clauses"),
    [
        (
            "Belmo has 48,000 inhabitants; Corva has 12,000.",
            ["Belmo has 48,000 inhabitants", "Corva has 12,000."],
        ),
        (
            "The fee is 5 EUR, but it is waived on Mondays.",
            ["The fee is 5 EUR", "but it is waived on Mondays."],
        ),
        ("Although it rained, the tour took 2 hours.", ["Although it rained", "the tour took 2 hours."]),
        ("桥长五百米以上；它于1931年开通。", ["桥长五百米以上", "它于1931年开通。"]),
    ],
)
def test_clauses_that_stand_on_their_own_are_claims(answer: str, clauses: list[str]) -> None:
    assert claims(answer, None) == [("clause", clause) for clause in clauses]
    assert {(c.context_start, c.context_end) for c in find_claims(answer, None)} == {(0, len(answer))}


@pytest.mark.parametrize(
    "answer",
    [
        "The hotel has a pool, a gym, and a helipad.",
        "Blue Door has 3.5 stars, free WiFi and outdoor seating, and opens at 10 AM on Sundays.",
        "It has pools, and rooms that are large.",
        "It sells bread (fresh; it is baked daily) and milk.",
        'He said "stay here; it is late" to her.',
    ],
)
def test_lists_and_asides_are_not_cut(answer: str) -> None:
    assert texts(answer) == [answer]
