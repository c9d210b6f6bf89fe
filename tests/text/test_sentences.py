"""Where sentences begin and end."""

from __future__ import annotations

import pytest

from rag_guard.text.sentences import find_sentences


def split(text: str, language: str | None = "en") -> list[str]:
    return [text[start:end] for start, end in find_sentences(text, language)]


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Dr. Lee measured 98.5 units at 4.30 p.m. on the roof."),
        ("en", "It is No. 5 on the list, e.g. of the U.S. Army."),
        ("en", "J. R. R. Tolkien shipped v2.3.1 for $5.50."),
        ("en", "Wait... what?!"),
        ("de", "Am 1. Mai 2020 wurde die Brücke eröffnet."),
        ("de", "Er kam auf den 3. Platz."),
        (None, "Am 1. Mai 2020 wurde die Brücke eröffnet."),
        ("fi", "Hän syntyi 5. toukokuuta 1990."),
        ("cs", "Narodil se 5. května 1990."),
        ("hi", "डॉ. सिंह आए।"),
    ],
)
def test_full_stops_inside_do_not_end_a_sentence(language: str | None, sentence: str) -> None:
    assert split(sentence, language) == [sentence]


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ["It is No. 5.", "It rose."]),
        ("en", ["Really?!", "Yes!", "Well."]),
        ("en", ["He left.", "🎉 Then he came."]),
        ("de", ["Er hat 5.", "Der Rest ging."]),
        ("zh", ["他来了。", "真的吗？", "好"]),
        ("en", ["東京は大きい。", "そうですね！", "はい"]),
        ("hi", ["यह है।", "वह है॥"]),
        ("ar", ["هل هذا؟", "نعم."]),
        ("es", ["¿Dónde está?", "¡Vamos!"]),
        ("en", ["He said “Go.”", "She left."]),
        ("en", ["It is so (as he said).", "She left."]),
    ],
)
def test_terminators_of_all_scripts_end_sentences(language: str, sentences: list[str]) -> None:
    joined = ("" if language in ("zh",) or "東京は大きい。" in sentences else " ").join(sentences)
    assert split(joined, language) == sentences


def test_offsets_count_code_points_behind_emoji_and_combining_marks() -> None:
    text = "🎉🎉 Cafe\u0301 ouvre. \U0001f468\u200d\U0001f469 ok. Fin."
    assert split(text, "fr")[-1] == "Fin."


def test_a_lone_surrogate_changes_no_offset() -> None:
    assert split("A \ud800 b one. C two.") == ["A \ud800 b one.", "C two."]


def test_short_lines_are_sentences_and_wrapped_lines_are_not() -> None:
    assert split("Apples are red\r\nBananas are yellow\r\nPears") == [
        "Apples are red",
        "Bananas are yellow",
        "Pears",
    ]
    wrapped = (
        "This is a long paragraph that was wrapped at a fixed width and so goes\n"
        "on in the next line before it ends. Another one follows it in the same\nblock."
    )
    assert [sentence.split()[0] for sentence in split(wrapped)] == ["This", "Another"]


def test_emphasis_and_code_do_not_hide_or_make_sentence_ends() -> None:
    assert split("**It is open.** Use `a.b. C()` now. _Done._") == [
        "It is open.",
        "Use `a.b. C()` now.",
        "Done.",
    ]


def test_sentences_stay_inside_their_blocks() -> None:
    assert split("# Title\nText one. Two\n- item. More\n\n| a | b |\n|---|---|\n| 1. x | 2 |") == [
        "Title", "Text one.", "Two", "item.", "More", "a | b", "1. x | 2",
    ]  # fmt: skip
