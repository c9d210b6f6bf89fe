"""Step 1 of EAEV: mentions with exact offsets."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_guard.detectors.entity_alignment.mentions import extract_mentions
from rag_guard.detectors.entity_alignment.word_classes import RuleClassifier

DOCUMENT = "Any document will do."


@pytest.fixture(scope="module")
def mentions(analyse):
    def find(answer: str, document: str = DOCUMENT, question: str | None = None):
        analysis = analyse(answer, document, question=question)
        found = extract_mentions(analysis, RuleClassifier().classify([analysis])[0])
        for mention in found:
            assert mention.start == min(analysis.words[i].start for i in mention.words) or mention.type == "NUM"
        return [(m.type, analysis.answer[m.start : m.end]) for m in found], found

    return find


def test_names_quantities_and_other_content_words(mentions):
    found, _ = mentions("The old mill of Rina Okafor ground 4.5 tonnes a day.")
    assert found == [
        ("NP", "old"), ("NP", "mill"), ("ENT", "Rina Okafor"), ("NP", "ground"), ("NUM", "4.5 tonnes"), ("NP", "day"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("They met Ana Maria Costa there.", ["Ana Maria Costa"]),
        ("They met Ana M. Costa there.", ["Ana M. Costa"]),
        ("They met J. P. Costa there.", ["J. P. Costa"]),
        ("They met Ana Costa-Lima there.", ["Ana Costa-Lima"]),
        ("They met Ana Costa, Lund Berg and Rolf Holm there.", ["Ana Costa", "Lund Berg", "Rolf Holm"]),
        ("It joined Marsh & Berg there.", ["Marsh & Berg"]),
        ("They saw NASA there.", ["NASA"]),
        ("They sold an iPhone there.", ["iPhone"]),
    ],
)
def test_runs_of_names_are_one_mention_up_to_punctuation(mentions, answer, names):
    assert [text for kind, text in mentions(answer)[0] if kind == "ENT"] == names


def test_names_on_two_lines_are_two_mentions(mentions):
    found, _ = mentions("They met:\n- Ana Costa\n- Rolf Holm")
    assert [text for kind, text in found if kind == "ENT"] == ["Ana Costa", "Rolf Holm"]


def test_a_first_word_is_a_name_only_if_the_documents_know_it_as_one(mentions):
    assert ("NP", "Bakers") in mentions("Bakers arrived early.")[0]
    assert ("ENT", "Bakers") in mentions("Bakers arrived early.", "The clerk of Bakers left. We saw Bakers go.")[0]


def test_german_nouns_are_no_names(mentions):
    found, _ = mentions("Das Museum zeigt alte Karten aus der Stadt.", "Das Museum zeigt viele alte Karten.")
    assert all(kind == "NP" for kind, _ in found)
    assert ("NP", "Karten") in found


def test_characters_of_scripts_without_spaces_join_into_runs(mentions):
    found, _ = mentions("图书馆位于海边。", "图书馆位于海边。")
    assert ("NP", "图书馆位") in found  # up to the function word
    assert not any("。" in text for _, text in found)


def test_quantities_take_their_units_and_dates_whole(mentions):
    found, _ = mentions("On 3 May 1998 it rose by 12% to 1,250 EUR.")
    assert [text for kind, text in found if kind == "NUM"] == ["3 May 1998", "12%", "1,250 EUR"]


@pytest.mark.parametrize(
    ("answer", "quantity"),
    [
        ("La torre fu costruita nel 1650 da Carlo Neri.", "1650"),
        ("Sie kamen 1990 um neun zu uns und gaben 5 uns.", "1990"),
        ("A companhia vendeu 12 da coleção.", "12"),
        ("Zamek z 1650 ale bez dachu.", "1650"),
    ],
)
def test_a_preposition_or_conjunction_is_no_unit(mentions, answer, quantity):
    assert ("NUM", quantity) in mentions(answer, answer)[0]


def test_words_of_an_approximation_are_no_mentions_of_their_own(mentions):
    found, _ = mentions("It holds almost 5,000 litres.")
    assert "almost" not in [text for _, text in found]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("1967", ("NUM", "1967")), ("Yes.", "Yes"), ("Lund", "Lund"), ("blue", "blue"), ("It", "It")],
)
def test_an_answer_of_one_word_is_one_mention(mentions, answer, expected):
    found, _ = mentions(answer, question="What is it?")
    assert found == [expected] or [text for _, text in found] == [expected]


def test_citation_markers_and_list_numbers_are_no_quantities(mentions):
    found, _ = mentions("1. It opened in 1903 [2].\n2. It closed in 1950 [7].")
    assert [text for kind, text in found if kind == "NUM"] == ["1903", "1950"]


def test_a_pronoun_stands_for_the_last_name_before_it(mentions):
    _, found = mentions("Rina Okafor founded the clinic. She left in 1998. It was sold by Nils Berg. He retired.")
    antecedents = {mention.claim: mention.antecedent for mention in found}
    assert [antecedents[claim] for claim in sorted(antecedents)] == [
        (), ("rina", "okafor"), ("rina", "okafor"), ("rina", "okafor"),
    ]  # fmt: skip
    _, found = mentions("Rina Okafor founded it. Nils Berg sold it. He retired.")
    assert [mention.antecedent for mention in found][-1] == ("nil", "berg")


def test_without_a_name_before_it_a_pronoun_stands_for_nothing(mentions):
    _, found = mentions("It opened in 1903. It is tall.")
    assert all(mention.antecedent == () for mention in found)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "Rina",
                "the",
                "12",
                "km",
                "3 May",
                "not",
                "it",
                ".",
                ",",
                "\n",
                "-",
                "**",
                "東京",
                "é\u0301",
                "[1]",
                "🙂",
                "5%",
            ]
        ),
        max_size=12,
    ).map(" ".join)
)
def test_mentions_are_sorted_disjoint_inside_claims_and_on_words(analyse, answer):
    analysis = analyse(answer, DOCUMENT)
    found = extract_mentions(analysis, RuleClassifier().classify([analysis])[0])
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    used = [i for mention in found for i in mention.words]
    assert len(used) == len(set(used))
    for mention in found:
        claim = analysis.claims[mention.claim]
        assert claim.start <= mention.start < mention.end <= claim.end


def test_a_sentence_with_a_subject_of_its_own_takes_no_antecedent(mentions):
    _, found = mentions("Rina Okafor founded the clinic. The old tower was sold.")
    assert all(mention.antecedent == () for mention in found)
