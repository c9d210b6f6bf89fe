from __future__ import annotations

import subprocess
import sys
import unicodedata
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_guard.text.lexicons.relations import are_antonyms, are_exclusive, are_related, are_synonyms

LANGUAGES = ["ar", "ca", "cs", "de", "en", "es", "eu", "fa", "fi", "fr", "hi", "it", "ja", "sv", "zh"]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("increased", "decreased"),
        ("rose", "fell"),
        ("opened", "closed"),
        ("before", "after"),
        ("northern", "southern"),
        ("bought", "sold"),
        ("allowed", "prohibited"),
        ("happy", "unhappy"),
        ("possible", "impossible"),
        ("agrees", "disagreed"),
        ("Larger", "smaller"),
        ("male", "female"),
        ("expensive", "cheap"),
        ("winning", "losing"),
        ("yes", "no"),
    ],
)
def test_opposites_are_antonyms_and_no_synonyms(a: str, b: str) -> None:
    assert are_antonyms(a, b)
    assert are_antonyms(b, a)
    assert not are_synonyms(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("increase", "rise"),
        ("increased", "rose"),
        ("led", "lead"),
        ("children", "kids"),
        ("founded", "established"),
        ("began", "started"),
        ("large", "big"),
        ("purchased", "bought"),
        ("utilises", "uses"),
        ("movie", "film"),
        ("company", "firms"),
        ("grey", "gray"),
        ("same", "SAME"),
    ],
)
def test_synonyms_and_inflections_are_synonyms_and_no_antonyms(a: str, b: str) -> None:
    assert are_synonyms(a, b)
    assert are_synonyms(b, a)
    assert not are_antonyms(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("thing", "the"),
        ("red", "reading"),
        ("king", "kitchen"),
        ("lake", "tower"),
        ("won", "lake"),
        ("", "a"),
    ],
)
def test_words_without_a_relation_have_none(a: str, b: str) -> None:
    assert not are_synonyms(a, b)
    assert not are_antonyms(a, b)
    assert not are_related(a, b)
    assert are_exclusive(a, b) is None


def test_a_winner_defeats_although_a_victory_is_no_defeat() -> None:
    assert not are_antonyms("won", "defeated")
    assert are_antonyms("victory", "defeat")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("employs", "employees"),
        ("measured", "measurement"),
        ("withdrew", "withdrawal"),
        ("died", "death"),
        ("big", "large"),
    ],
)
def test_derived_words_are_related(a: str, b: str) -> None:
    assert are_related(a, b)
    assert are_related(b, a)
    assert not are_antonyms(a, b)


@pytest.mark.parametrize(
    ("a", "b", "name"),
    [
        ("gold", "silver", "medal"),
        ("red", "Blue", "colour"),
        ("Monday", "tuesday", "weekday"),
        ("March", "April", "month"),
        ("northern", "east", "direction"),
        ("winter", "summer", "season"),
        ("Asia", "Europe", "continent"),
        ("nephews", "sisters", "relative"),
        ("guitar", "piano", "instrument"),
    ],
)
def test_members_of_a_class_exclude_each_other(a: str, b: str, name: str) -> None:
    assert are_exclusive(a, b) == are_exclusive(b, a) == name


@pytest.mark.parametrize(("a", "b"), [("grey", "gray"), ("autumn", "fall"), ("red", "red"), ("red", "monday")])
def test_one_member_and_members_of_different_classes_do_not(a: str, b: str) -> None:
    assert are_exclusive(a, b) is None


@pytest.mark.parametrize(
    ("language", "a", "b"),
    [
        ("ar", "قبل", "بعد"),
        ("ca", "abans", "després"),
        ("cs", "zvýšil", "klesla"),
        ("de", "gestiegen", "gesunken"),
        ("de", "geöffnet", "geschlossen"),
        ("es", "aumentó", "disminuyó"),
        ("eu", "handitu", "txikitu"),
        ("fa", "افزایش", "کاهش"),
        ("fi", "voitti", "hävisi"),
        ("fr", "premier", "dernière"),
        ("hi", "उत्तर", "दक्षिण"),
        ("it", "aperta", "chiusa"),
        ("ja", "最初", "最後"),
        ("sv", "ökade", "minskade"),
        ("zh", "增加", "减少"),
    ],
)
def test_other_languages_know_frequent_opposites(language: str, a: str, b: str) -> None:
    assert are_antonyms(a, b, language)
    assert not are_synonyms(a, b, language)


@pytest.mark.parametrize(
    ("language", "a", "b", "name"),
    [
        ("de", "Montag", "Dienstag", "weekday"),
        ("cs", "ledna", "února", "month"),
        ("fi", "kultaa", "hopeaa", "medal"),
        ("ar", "يناير", "فبراير", "month"),
        ("ja", "月曜日", "火曜日", "weekday"),
        ("de", "rote", "blauen", "colour"),
        ("sv", "Asien", "Afrika", "continent"),
    ],
)
def test_other_languages_know_classes(language: str, a: str, b: str, name: str) -> None:
    assert are_exclusive(a, b, language) == name


def test_a_decomposed_word_is_the_same_word() -> None:
    assert are_antonyms(unicodedata.normalize("NFD", "ökade"), "minskade", "sv")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_listed_pair_is_both_synonym_and_antonym(language: str) -> None:
    source = (files("rag_guard.text.lexicons") / "data" / "opposites" / f"{language}.tsv").read_text("utf-8")
    lines = source.splitlines()
    assert len(lines) >= 30
    for line in lines:
        left, right = ([word.strip() for word in side.split(",")] for side in line.split("\t"))
        for a in left:
            for b in right:
                assert not (are_antonyms(a, b, language) and are_synonyms(a, b, language)), (a, b)
        assert are_antonyms(left[0], right[0], language), line


@given(st.text(max_size=12), st.text(max_size=12), st.sampled_from([*LANGUAGES, "xx", "", "not a code"]))
def test_any_text_gets_an_answer(a: str, b: str, language: str) -> None:
    assert not (are_antonyms(a, b, language) and are_synonyms(a, b, language))
    assert are_exclusive(a, b, language) in (None, are_exclusive(b, a, language))


def test_importing_loads_nothing() -> None:
    code = "from rag_guard.text.lexicons import relations;assert relations._sections.cache_info().currsize == 0"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
