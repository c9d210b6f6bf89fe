"""Words: exact offsets on any text, normal forms, and scripts without spaces."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_guard.text.words import find_words, is_unspaced, normalize


def texts(text: str, language: str | None = None) -> list[str]:
    return [word.text for word in find_words(text, language)]


ANY_TEXT = st.text(st.characters(), max_size=80) | st.text("aé́ñ1.,'’ -東京ひカไทยक्ष\ud800\u200b\r\n🙂", max_size=60)


@given(ANY_TEXT, st.sampled_from([None, "en", "de", "ja", "ar", "hi"]))
def test_offsets_slice_the_text_in_order_without_overlap(text, language):
    words = find_words(text, language)
    assert all(text[word.start : word.end] == word.text != "" for word in words)
    assert all(a.end <= b.start for a, b in itertools.pairwise(words))


@given(ANY_TEXT)
def test_every_letter_and_digit_is_in_a_word(text):
    inside = {i for word in find_words(text) for i in range(word.start, word.end)}
    assert all(i in inside for i, char in enumerate(text) if char.isalpha() or char.isdecimal())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It costs 1,250.50 euros.", ["It", "costs", "1,250.50", "euros"]),
        ("The U.S. signed at 10:30.", ["The", "U.S.", "signed", "at", "10:30"]),
        ("Nils's boat, l’eau", ["Nils's", "boat", "l’eau"]),
        ("5% of €3", ["5", "%", "of", "€", "3"]),
        ("", []),
        (" \n\t ... !?", []),
    ],
)
def test_words_keep_what_belongs_together(text, expected):
    assert texts(text) == expected


def test_scripts_without_spaces_have_one_word_per_character():
    assert texts("東京駅") == ["東", "京", "駅"]
    assert texts("ไทย") == ["ไ", "ท", "ย"]
    assert all(is_unspaced(char) for char in "東ไ")
    assert not is_unspaced("a")
    assert not is_unspaced("カ")


def test_runs_of_kana_are_one_word_and_hiragana_runs_are_particles():
    words = find_words("カメラです")
    assert [(word.text, word.is_function) for word in words] == [("カメラ", False), ("です", True)]


def test_a_combining_mark_stays_with_its_letter():
    decomposed = "cafe\u0301 bar"
    assert texts(decomposed) == ["cafe\u0301", "bar"]
    assert find_words(decomposed)[0].norm == "café" == find_words("café")[0].norm


def test_lone_surrogates_are_no_words_and_move_no_offset():
    words = find_words("tall \ud800 tower \udfff", "en")
    assert [(word.start, word.text) for word in words] == [(0, "tall"), (7, "tower")]


@pytest.mark.parametrize(
    ("word", "norm"),
    [("Straße", "strasse"), ("U.S.", "us"), ("3.5", "3.5"), ("Nils’s", "nils"), ("ＡＢＣ", "abc"), ("ﬁne", "fine")],
)
def test_normal_forms(word, norm):
    assert normalize(word) == norm


def test_stems_join_inflections_of_the_language_only():
    assert len({word.stem for word in find_words("paint painted paints", "en")}) == 1
    assert len({word.stem for word in find_words("paint painted paints", None)}) == 3
    assert len({word.stem for word in find_words("lead led", "en")}) == 1


def test_function_words_depend_on_the_language():
    assert [word.is_function for word in find_words("the tower", "en")] == [True, False]
    assert [word.is_function for word in find_words("der Turm", "de")] == [True, False]


def test_an_elided_pronoun_or_particle_before_a_function_word_is_one_itself():
    assert [w.text for w in find_words("Il n'est pas là, qu'il n'accepte", "fr") if not w.is_function] == ["n'accepte"]
    assert not find_words("une médaille d'or", "fr")[-1].is_function
    assert not find_words("He met O'Neill", "en")[-1].is_function
