"""The language of an answer."""

from __future__ import annotations

import pytest

from rag_guard.text.language import detect_language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The bridge was opened in 1931 and is still in use today."),
        ("de", "Die Brücke wurde am 1. Mai 2020 nach drei Jahren Bauzeit eröffnet."),
        ("fr", "Le pont a été ouvert en 1931 et il est toujours utilisé."),
        ("fi", "Silta avattiin vuonna 1931 ja se on edelleen käytössä."),
        ("zh", "桥于1931年开通。"),
        ("ja", "この橋は1931年に開通した。"),
        ("hi", "पुल 1931 में खोला गया था और आज भी उपयोग में है।"),
        ("ar", "افتتح الجسر في عام 1931 ولا يزال قيد الاستخدام."),
        ("fa", "این پل در سال ۱۹۳۱ افتتاح شد و هنوز استفاده می‌شود."),
        ("fa", "نمی‌دانم، پل چیست؟"),
        ("ko", "다리는 1931년에 개통되었다."),
        ("el", "Η γέφυρα άνοιξε το 1931."),
    ],
)
def test_languages_are_told(language: str, text: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", "1967", "42 %", "🎉", "Paris"])
def test_too_little_text_tells_no_language(text: str) -> None:
    assert detect_language(text) is None


def test_a_short_answer_has_the_language_of_its_document() -> None:
    assert detect_language("Paris", "La capitale de la France est la ville de Paris depuis longtemps.") == "fr"
    assert detect_language("The lake is 41 m deep.", "The lake is 41 m deep and lies in the far north.") == "en"
    assert detect_language("1967", "The first module was launched in 1967 from the coast.") == "en"


def test_a_document_in_another_script_does_not_name_the_language() -> None:
    assert detect_language("Paris", "この橋は1931年に開通した。") is None
    assert detect_language("東京", "The bridge was opened in 1931 and is still in use.") == "zh"
