"""Steps 2 and 3 of EAEV: what aligns with the documents, and what the documents contradict."""

from __future__ import annotations

import pytest

from rag_guard.detectors.entity_alignment.similarity import is_spelling_variant
from rag_guard.text.words import find_words

# --- identity -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("WHO runs the clinic in Holm.", "The World Health Organization runs the clinic in Holm."),
        ("The World Bank Group funded it.", "WBG funded it in Lund."),
        ("The shop is in Oakland, California.", "The shop is in Oakland, CA."),
        ("The house on Marsh Drive is old.", "The house on Marsh Dr is old."),
        ("It stands on Marsh Drive in Lund.", "It stands on 12 Marsh Dr, Lund."),
        ("The hostel offers Wi-Fi in every room.", "The hostel offers WiFi in every room."),
        ("The hostel offers WiFi in every room.", "The hostel offers Wi-Fi in every room."),
        ("The organisation was founded by Ana Costa.", "The organization was founded by Ana Costa."),
        ("Johnson wrote the opera Lys.", "Mary Ann Johnson wrote the opera Lys."),
        ("The CAFÉ of Lund is open.", "The Cafe\u0301 of Lund is open."),
        ("“Lys” is Johnson’s opera.", '"Lys" is Johnson\'s opera.'),
    ],
)
def test_another_form_of_the_same_is_supported(flagged, answer, document):
    assert flagged(answer, document) == []


@pytest.mark.parametrize(
    ("answer", "document", "expected"),
    [
        ("Marta Jensen leads the museum.", "Marta Jansen leads the museum.", ("Jensen", "contradicted", "Jansen")),
        ("Erica Stein won the race.", "Erika Stein won the race.", ("Erica", "contradicted", "Erika")),
        ("UNH runs the clinic in Holm.", "The World Health Organization runs the clinic in Holm.", None),
    ],
)
def test_one_letter_tells_two_names_apart(flagged, answer, document, expected):
    spans = flagged(answer, document)
    assert spans
    assert expected is None or spans == [expected]


@pytest.mark.parametrize(
    ("one", "other", "variant"),
    [
        ("colour", "color", True),
        ("travelled", "traveled", True),
        ("Johannsen", "Johannson", False),
        ("johannsen", "Johannson", False),
        ("model204", "model205", False),
        ("cat", "cats", False),
    ],
)
def test_spelling_varies_in_words_but_never_in_names(one, other, variant):
    (a,), (b,) = find_words(one, "en"), find_words(other, "en")
    assert is_spelling_variant(a, b) is variant
    assert is_spelling_variant(b, a) is variant


# --- quantities in their slots --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "document", "wrong", "expected"),
    [
        ("The bridge is 120 m long.", "The bridge is 95 m long and 12 m wide.", "120", "95 m"),
        ("The tower was finished in 1930.", "The tower was finished in 1903 by Nils Berg.", "1930", "1903"),
        ("The fee rose by 12%.", "The fee rose by 21% last year.", "12", "21%"),
        ("The walk takes 3 hours.", "The walk takes 90 minutes.", "3", "90 minutes"),
    ],
)
def test_another_value_in_the_same_slot_is_a_conflict(flagged, answer, document, wrong, expected):
    ((text, label, instead),) = flagged(answer, document)
    assert label == "contradicted"
    assert text.startswith(wrong)
    assert instead == expected


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("The trail is 5 km long.", "The trail is 5000 m long."),
        ("The wall is 2.5 m high.", "The wall is 250 cm high."),
        ("The walk takes 1.5 hours.", "The walk takes 90 minutes."),
        ("About 5,000 people live there.", "4,983 people live there."),
        ("It opened on 3 May 1998.", "It opened on 1998-05-03."),
        ("It has twelve rooms.", "It has 12 rooms."),
    ],
)
def test_the_same_value_in_other_words_or_units_agrees(flagged, answer, document):
    assert flagged(answer, document) == []


TABLE = "| city | founded | population |\n|---|---|---|\n| Arden | 1640 | 12,000 |\n| Belmo | 1702 | 48,000 |"
RECORD = '{"name": "Blue Door", "reviews": 85, "seats": 120}'


def test_a_value_of_another_row_belongs_to_another_subject(flagged):
    assert flagged("Belmo was founded in 1640.", TABLE) == [("1640", "contradicted", "1702")]
    assert flagged("Belmo was founded in 1702.", TABLE) == []
    bikes = "| shop | bikes a day |\n|---|---|\n| Arden | 25 |\n| Belmo | 40 |"
    assert flagged("Arden has 40 bikes a day.", bikes) == [("40", "contradicted", "25")]
    assert flagged("Arden has 25 bikes a day.", bikes) == []


def test_a_value_of_another_sentence_belongs_to_another_subject(flagged):
    text = "The Arden bridge is 95 m long. The Belmo bridge is 120 m long."
    ((wrong, label, expected),) = flagged("The Arden bridge is 120 m long.", text)
    # Either the subject or the value is the wrong one.
    assert (wrong, expected) in {("Arden", "Belmo"), ("120", "95 m")}
    assert label == "contradicted"
    assert flagged("The Belmo bridge is 120 m long.", text) == []


def test_a_value_of_another_field_is_a_conflict(flagged):
    assert flagged("The Blue Door has 120 reviews.", RECORD) == [("120", "contradicted", "85")]
    assert flagged("The Blue Door has 85 reviews and 120 seats.", RECORD) == []


def test_a_small_count_of_listed_things_is_no_conflict(flagged):
    spans = flagged("The report lists three rivers.", "The report lists the Aare, the Reuss and the Limmat.")
    assert not any("three" in text for text, _, _ in spans)
    assert all(label == "unsupported" for _, label, _ in spans)


def test_a_wrong_value_is_wrong_wherever_it_is_repeated(flagged):
    spans = flagged("The dam holds 90 litres. So 90 litres is what the dam holds.", "The dam holds 70 litres.")
    assert [text for text, _, instead in spans if instead == "70 litres"] == ["90", "90"]


# --- substitutions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "document", "expected"),
    [
        (
            "Tom Becker wrote the opera Lys.",
            "Mary Ann Johnson wrote the opera Lys.",
            ("Tom Becker", "Mary Ann Johnson"),
        ),
        ("The market opens on Tuesday.", "The market opens on Friday.", ("Tuesday", "Friday")),
        ("The door was painted red.", "The door was painted blue.", ("red", "blue")),
        ("The north gate is locked.", "The south gate is locked.", ("north", "south")),
        (
            "The museum is closed to visitors with dogs.",
            "The museum is open to visitors with dogs.",
            ("closed", "open"),
        ),
    ],
)
def test_what_excludes_the_documents_word_in_its_place_is_contradicted(flagged, answer, document, expected):
    ((text, label, instead),) = flagged(answer, document)
    assert (text, label, instead) == (expected[0], "contradicted", expected[1])


def test_a_longer_name_adds_what_no_document_says(flagged):
    ((text, label, _),) = flagged("Mary Ann Johnson wrote the opera Lys.", "Johnson wrote the opera Lys.")
    assert (text, label) == ("Mary Ann", "unsupported")


def test_in_a_paraphrase_another_noun_is_not_a_substitute(flagged):
    spans = flagged(
        "Visitors praise the garden of the castle.",
        "The castle near Holm, built by monks, is loved by guests for the orchard that surrounds its garden.",
    )
    assert all(label == "unsupported" for _, label, _ in spans)


def test_what_stands_behind_punctuation_is_no_substitute(flagged):
    spans = flagged("The opera Lys was written by Tom Becker.", "The opera Lys was written in 1903, Nils Berg said.")
    assert all(instead is None or "Nils" not in instead for _, _, instead in spans)


def test_names_of_two_facts_are_not_swapped(flagged):
    text = "Ana Costa founded the clinic of Holm. Rolf Berg founded the school of Lund."
    assert flagged("Ana Costa founded the clinic of Holm.", text) == []
    spans = flagged("Rolf Berg founded the clinic of Holm.", text)
    assert spans
    assert {label for _, label, _ in spans} == {"contradicted"}


@pytest.mark.parametrize(
    ("answer", "question", "document", "wrong", "expected"),
    [
        ("1988", "When was the clinic founded?", "Rina Okafor founded the clinic in 1998.", "1988", "1998"),
        ("Nils", "Who founded the clinic?", "The clinic was founded by Okafor.", "Nils", "Okafor"),
    ],
)
def test_an_answer_of_one_word_is_read_with_the_question(flagged, answer, question, document, wrong, expected):
    assert flagged(answer, document, question=question) == [(wrong, "contradicted", expected)]


# --- polarity -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "document", "expected"),
    [
        ("The clinic does not treat adults.", "The clinic treats adults.", ("not treat adults", "treats adults")),
        ("The clinic treats adults.", "The clinic does not treat adults.", ("treats adults", "not treat adults")),
        ("The lift never stops at night.", "The lift stops at night.", ("never stops at night", "stops at night")),
    ],
)
def test_a_dropped_or_added_negation_is_contradicted(flagged, answer, document, expected):
    assert flagged(answer, document) == [(expected[0], "contradicted", expected[1])]


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("The clinic does not treat adults.", "The clinic does not treat adults."),
        ("The clinic treats children but not adults.", "The clinic treats children, but it does not treat adults."),
        ("The hall may not open in winter.", "The hall may open in winter."),
        ("If the lift stops at night, call the porter.", "The lift never stops at night. Call the porter."),
        ("The fair is not only for children.", "The fair is for children."),
    ],
)
def test_contrasts_and_suppositions_are_no_conflicts_of_polarity(flagged, answer, document):
    assert all(label != "contradicted" for _, label, _ in flagged(answer, document))


@pytest.mark.parametrize(
    ("answer", "document", "right"),
    [
        ("Yes", "The bridge is open to cyclists.", True),
        ("No.", "The bridge is open to cyclists.", False),
        ("Yes.", "The bridge is not open to cyclists.", False),
        ("No", "The bridge is not open to cyclists.", True),
    ],
)
def test_a_bare_yes_or_no_answers_the_question(flagged, answer, document, right):
    spans = flagged(answer, document, question="Is the bridge open to cyclists?")
    assert [label for _, label, _ in spans] == ([] if right else ["contradicted"])


HOTEL = '{"name": "Inn", "parking": true, "pool": false, "pets": "yes"}'


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("The Inn has parking.", None),
        ("The Inn has a pool.", "pool"),
        ("The Inn has no pool.", None),
        ("The Inn has no parking.", "parking"),
        ("The Inn does not allow pets.", "pets"),
        ("The Inn has parking but no pool.", None),
    ],
)
def test_a_record_says_yes_or_no(flagged, answer, wrong):
    contradicted = [text for text, label, _ in flagged(answer, HOTEL) if label == "contradicted"]
    assert contradicted == ([wrong] if wrong else [])
