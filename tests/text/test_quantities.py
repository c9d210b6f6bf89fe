"""Quantities are found with exact offsets in many notations and languages, and compared by their meaning."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_guard.text.quantities import (
    Agreement,
    Quantity,
    adds_detail,
    compare,
    conflict_offsets,
    find_quantities,
)

EQUAL, APPROXIMATE = Agreement.EQUAL, Agreement.APPROXIMATE
DIFFERENT, INCOMPARABLE = Agreement.DIFFERENT, Agreement.INCOMPARABLE


def only(text: str, language: str | None = None) -> Quantity:
    found = find_quantities(text, language)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "quote", "kind", "low", "unit"),
    [
        ("It has 41 rooms.", "41", "number", 41, None),
        ("The lake is **888** m deep.", "888** m", "measure", 888, "meter"),
        ("The maximum is 1,5 %.", "1,5 %", "percent", 1.5, "percent"),
        ("At 12 per cent interest.", "12 per cent", "percent", 12, "percent"),
        ("Es sind 5 Prozent.", "5 Prozent", "percent", 5, "percent"),
        ("La hausse est de 25 pour cent.", "25 pour cent", "percent", 25, "percent"),
        ("ehuneko hori %5 da", "%5", "percent", 5, "percent"),
        ("It seats 12,500 people.", "12,500", "number", 12500, None),
        ("Er zahlte 1.234.567,89 EUR.", "1.234.567,89 EUR", "money", 1234567.89, "EUR"),
        ("It cost 1,234,567.89 USD.", "1,234,567.89 USD", "money", 1234567.89, "USD"),
        ("Es kostet 1'234'567 CHF.", "1'234'567 CHF", "money", 1234567, "CHF"),
        ("soit 12\u202f500\u00a0habitants", "12\u202f500", "number", 12500, None),
        ("It is ₹1,00,000 now.", "₹1,00,000", "money", 100000, "INR"),
        ("5 lakh rupees", "5 lakh rupees", "money", 500000, "INR"),
        ("10 करोड़ लोग", "10 करोड़", "number", 1e8, None),
        ("٣٤٥ كم", "٣٤٥ كم", "measure", 345, "kilometer"),
        ("१२३ किमी", "१२३ किमी", "measure", 123, "kilometer"),
        ("全部で１２３円です", "１２３円", "money", 123, "JPY"),
        ("worth $2.5M today", "$2.5M", "money", 2.5e6, "USD"),
        ("worth 2,500,000 dollars", "2,500,000 dollars", "money", 2.5e6, "USD"),
        ("€3bn in total", "€3bn", "money", 3e9, "EUR"),
        ("rund 80 Mio. Einwohner", "80 Mio.", "number", 8e7, None),
        ("3,5 millions d'euros", "3,5 millions d'euros", "money", 3.5e6, "EUR"),
        ("5 mil millones de pesos", "5 mil millones de pesos", "money", 5e9, "MXN"),
        ("5 milioni di euro", "5 milioni di euro", "money", 5e6, "EUR"),
        ("5 miljoner kronor", "5 miljoner kronor", "money", 5e6, "SEK"),
        ("5 milionů korun", "5 milionů korun", "money", 5e6, "CZK"),
        ("5 miljoonaa euroa", "5 miljoonaa euroa", "money", 5e6, "EUR"),
        ("人口は99億人です", "99億", "number", 9.9e9, None),
        ("约1.5亿人", "1.5亿", "number", 1.5e8, None),
        ("全部で1億2000万人", "1億2000万", "number", 1.2e8, None),
        ("一共二十五人", "二十五", "number", 25, None),
        ("5만 명", "5만", "number", 50000, None),
        ("The hall has twenty-five seats.", "twenty-five", "number", 25, None),
        ("Three hundred and five left.", "Three hundred and five", "number", 305, None),
        ("Es sind fünfundzwanzig Leute.", "fünfundzwanzig", "number", 25, None),
        ("Il y a vingt-cinq personnes.", "vingt-cinq", "number", 25, None),
        ("Hay veinticinco personas.", "veinticinco", "number", 25, None),
        ("Ci sono venticinque persone.", "venticinque", "number", 25, None),
        ("a dozen eggs", "a dozen", "number", 12, None),
        ("half a million people", "half a million", "number", 5e5, None),
        ("two-thirds of them", "two-thirds", "fraction", 2 / 3, None),
        ("a quarter of them", "quarter", "fraction", 0.25, None),
        ("1½ hours", "1½ hours", "measure", 1.5, "hour"),
        ("2 1/2 miles", "2 1/2 miles", "measure", 2.5, "mile"),
        ("one and a half hours", "one and a half hours", "measure", 1.5, "hour"),
        ("two and a half years", "two and a half years", "measure", 2.5, "year"),
        ("1 hour and 30 minutes", "1 hour and 30 minutes", "measure", 1.5, "hour"),
        ("a 30-day trial", "30-day", "measure", 30, "day"),
        ("nach drei Jahren", "drei Jahren", "measure", 3, "year"),
        ("dura 3 años", "3 años", "measure", 3, "year"),
        ("3日間です", "3日", "measure", 3, "day"),
        ("at -5 °C outside", "-5 °C", "measure", -5, "degree_Celsius"),
        ("1,200 sq ft", "1,200 sq ft", "measure", 1200, "foot**2"),
        ("5 m² large", "5 m²", "measure", 5, "meter**2"),
        ("100 km/h fast", "100 km/h", "measure", 100, "kilometer/hour"),
        ("3×10^8 m/s", "3×10^8 m/s", "measure", 3e8, "meter/second"),
        ("about 1e6 cells", "1e6", "number", 1e6, None),
        ("a 3.5-star hotel", "3.5", "number", 3.5, None),
        ("the 2nd time", "2nd", "ordinal", 2, None),
        ("the third man", "third", "ordinal", 3, None),
        ("第3回", "第3", "ordinal", 3, None),
        ("open 24/7 here", "24/7", "identifier", None, None),
        ("in v2.3.10 now", "v2.3.10", "identifier", None, None),
        ("an A320 jet", "A320", "identifier", None, None),
        ("the COVID-19 virus", "COVID-19", "identifier", None, None),
        ("call +49 30 123456 now", "+49 30 123456", "identifier", None, None),
        ("host 192.168.1.1 is up", "192.168.1.1", "identifier", None, None),
        ("see https://a.org/2021/x.", "https://a.org/2021/x", "identifier", None, None),
        ("it ended 3-1 there", "3-1", "ratio", None, None),
    ],
)  # fmt: skip
def test_a_quantity_is_found_with_kind_value_unit_and_offsets(
    text: str, quote: str, kind: str, low: float | None, unit: str | None
) -> None:
    quantity = only(text)
    assert (quantity.text, quantity.kind, quantity.unit) == (quote, kind, unit)
    assert text[quantity.start : quantity.end] == quote
    assert quantity.low == (None if low is None else pytest.approx(low))


@pytest.mark.parametrize(
    ("text", "quote", "parts"),
    [
        ("on 2021-03-14", "2021-03-14", (2021, 3, 14)),
        ("on 14 March 2021", "14 March 2021", (2021, 3, 14)),
        ("on March 14, 2021", "March 14, 2021", (2021, 3, 14)),
        ("on March 14th, 2021", "March 14th, 2021", (2021, 3, 14)),
        ("on the 5th of May", "5th of May", (None, 5, 5)),
        ("Sept. 5", "Sept. 5", (None, 9, 5)),
        ("in May 2020", "May 2020", (2020, 5, None)),
        ("users in May", "May", (None, 5, None)),
        ("on 14/03/2021", "14/03/2021", (2021, 3, 14)),
        ("am 14.03.2021", "14.03.2021", (2021, 3, 14)),
        ("Am 1. Mai 2020", "1. Mai 2020", (2020, 5, 1)),
        ("le 1er mars 2021", "1er mars 2021", (2021, 3, 1)),
        ("el 14 de marzo de 2021", "14 de marzo de 2021", (2021, 3, 14)),
        ("il 14 marzo 2021", "14 marzo 2021", (2021, 3, 14)),
        ("den 14 mars 2021", "14 mars 2021", (2021, 3, 14)),
        ("14. března 2021", "14. března 2021", (2021, 3, 14)),
        ("14. maaliskuuta 2021", "14. maaliskuuta 2021", (2021, 3, 14)),
        ("2021eko martxoaren 14an", "2021eko martxoaren 14an", (2021, 3, 14)),
        ("el 14 de març de 2021", "14 de març de 2021", (2021, 3, 14)),
        ("14 مارس 2021", "14 مارس 2021", (2021, 3, 14)),
        ("14 मार्च 2021 को", "14 मार्च 2021", (2021, 3, 14)),
        ("2021年3月14日に", "2021年3月14日", (2021, 3, 14)),
        ("この橋は1931年に開通した。", "1931年", (1931, None, None)),
        ("令和3年に", "令和3年", (2021, None, None)),
        ("founded in 1967", "1967", (1967, None, None)),
        ("around 3300 BC.", "3300 BC", (-3300, None, None)),
        ("公元前221年", "公元前221年", (-221, None, None)),
        ("im Jahr 44 v. Chr.", "44 v. Chr.", (-44, None, None)),
        ("in nineteen eighty-four", "nineteen eighty-four", (1984, None, None)),
    ],
)
def test_a_date_is_found_with_the_parts_it_gives(
    text: str, quote: str, parts: tuple[int | None, int | None, int | None]
) -> None:
    quantity = only(text)
    assert quantity.date is not None
    assert (quantity.text, quantity.kind) == (quote, "date")
    assert (quantity.date.year, quantity.date.month, quantity.date.day) == parts


@pytest.mark.parametrize(
    ("text", "quote", "low", "high"),
    [
        ("at 07:40 sharp", "07:40", 7 + 40 / 60, None),
        ("at 4.30 p.m. on the roof", "4.30 p.m.", 16.5, None),
        ("at 10 AM daily", "10 AM", 10, None),
        ("at 8 o'clock", "8 o'clock", 8, None),
        ("um 16 Uhr", "16 Uhr", 16, None),
        ("à 9 h.", "9 h", 9, None),
        ("à 9h30", "9h30", 9.5, None),
        ("下午3点30分", "3点30分", 15.5, None),
        ("until noon", "noon", 12, None),
        ("'10:0-14:0'", "10:0-14:0", 10, 14),
        ("9-5 p.m.", "9-5 p.m.", 9, 17),
        ("9 a.m. to 5 p.m.", "9 a.m. to 5 p.m.", 9, 17),
        ("7:30-9:00 pm", "7:30-9:00 pm", 19.5, 21),
    ],
)
def test_a_clock_time_is_found_in_hours_since_midnight(text: str, quote: str, low: float, high: float | None) -> None:
    quantity = only(text)
    assert (quantity.text, quantity.kind) == (quote, "time")
    assert quantity.low == pytest.approx(low)
    assert quantity.high == pytest.approx(low if high is None else high)


@pytest.mark.parametrize(
    ("text", "quote", "low", "high"),
    [
        ("built 1901-1904", "1901-1904", 1901, 1904),
        ("5–7 days", "5–7 days", 5, 7),
        ("between 5 and 7 dollars", "5 and 7 dollars", 5, 7),
        ("zwischen 5 und 7 km", "5 und 7 km", 5, 7),
        ("from 12 to 15 percent", "12 to 15 percent", 12, 15),
        ("$1.2M-$1.5M", "$1.2M-$1.5M", 1.2e6, 1.5e6),
        ("5〜7日", "5〜7日", 5, 7),
        ("the 1990s", "1990s", 1990, 1999),
        ("the 19th century", "19th century", 1801, 1900),
        ("im 19. Jahrhundert", "19. Jahrhundert", 1801, 1900),
        ("au XIXe siècle", "XIXe siècle", 1801, 1900),
        ("en el siglo XIX", "siglo XIX", 1801, 1900),
        ("19世紀", "19世紀", 1801, 1900),
        ("the season 2019/20", "2019/20", 2019, 2020),
    ],
)
def test_a_range_has_both_ends(text: str, quote: str, low: float, high: float) -> None:
    quantity = only(text)
    assert (quantity.text, quantity.low, quantity.high) == (quote, pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    ("text", "approximate"),
    [
        ("about 300", "about"), ("roughly 300 people", "about"), ("~300", "about"), ("etwa 300", "about"), ("environ 300", "about"),
        ("alrededor de 300", "about"), ("約300", "about"), ("लगभग 300", "about"), ("almost 5,000", "almost"), ("quasi 100 km", "almost"),
        ("over 2 million", "more_than"), ("mehr als 300", "more_than"), ("plus de 300", "more_than"), ("fewer than 300", "less_than"),
        ("at least 18 years", "at_least"), ("mindestens 18 Jahre", "at_least"), ("100人以上", "at_least"), ("5+ years", "at_least"),
        ("up to 30 days", "at_most"), ("at most 1.5%", "at_most"), ("hasta 40 euros", "at_most"), ("exactly 300", None),
    ],
)  # fmt: skip
def test_an_approximation_word_is_read_but_is_no_part_of_the_quantity(text: str, approximate: str | None) -> None:
    quantity = only(text)
    assert quantity.approximate == approximate
    assert quantity.text[0].isdigit()


@pytest.mark.parametrize(
    "text",
    [
        "One can see that it works.", "No one came.", "Once upon a time.", "May I ask?", "They march on.", "Wait a second.",
        "We met on a day in spring.", "A first step, at first.", "Sie ist eine gute Idee.", "Il est un ami.", "",
        "Millions of people.", "The dos and don'ts.", "one of the best", "万一一般統一",
    ],
)  # fmt: skip
def test_articles_pronouns_and_verbs_are_no_quantities(text: str) -> None:
    assert find_quantities(text) == []


@pytest.mark.parametrize(
    ("answer", "source", "expected"),
    [
        ("12,500", "12500", EQUAL), ("1.5%", "1,5 %", EQUAL), ("15%", "1.5 %", DIFFERENT), ("3 days", "72 hours", EQUAL),
        ("5,000 metres", "5 km", EQUAL), ("12 cm", "12 mm", DIFFERENT), ("88 metres", "88 m", EQUAL), ("41 °F", "5 °C", EQUAL),
        ("$2.5M", "2,500,000 dollars", EQUAL), ("5 EUR", "5 euros", EQUAL), ("$5", "5 EUR", DIFFERENT), ("A$5", "5 dollars", EQUAL),
        ("50 cents", "$0.50", EQUAL), ("25", "twenty-five", EQUAL), ("50%", "half of them", EQUAL), ("½ cup", "1/2 cup", EQUAL),
        ("88 metres", "88", APPROXIMATE), ("5 km", "5 EUR", INCOMPARABLE), ("5 km", "5 kg", INCOMPARABLE), ("40 days", "30 days", DIFFERENT),
        ("14 March 2021", "2021-03-14", EQUAL), ("2021-03-15", "14 March 2021", DIFFERENT), ("March 2021", "14 March 2021", APPROXIMATE),
        ("14 March 2021", "March 2021", APPROXIMATE), ("03/04/2021", "3 April 2021", EQUAL), ("03/04/2021", "March 4, 2021", EQUAL),
        ("in 2021", "2021-03-14", APPROXIMATE), ("in 2020", "2021-03-14", DIFFERENT), ("in 1911", "1901-1904", DIFFERENT), ("in 1901", "1901-1904", APPROXIMATE),
        ("in 1902", "1901-1904", DIFFERENT), ("1901 to 1904", "1901-1904", EQUAL), ("the 1990s", "in 1995", APPROXIMATE), ("the 1980s", "in 1995", DIFFERENT),
        ("19th century", "in 1850", APPROXIMATE), ("in 1995", "the 1990s", DIFFERENT), ("3300 BC", "3300 BC", EQUAL), ("300 BC", "AD 300", DIFFERENT),
        ("10 AM", "10:0-14:0", APPROXIMATE), ("11 AM", "10:0-14:0", DIFFERENT), ("10 AM", "10:00", EQUAL), ("4:30", "16:30", APPROXIMATE),
        ("à 9 h", "à 7 h", DIFFERENT), ("9 h", "7 h", DIFFERENT), ("à 9 h", "9 h", EQUAL), ("opens at 8", "8 AM", EQUAL),
        ("v2.3.10", "v2.3.1", DIFFERENT), ("2.3.1", "v2.3.1", EQUAL), ("A320", "COVID-19", INCOMPARABLE), ("A321", "A320", DIFFERENT),
        ("almost 5,000", "4,980", APPROXIMATE), ("almost 5,000", "5,020", DIFFERENT), ("5,000", "4,980", DIFFERENT), ("about 300", "305", APPROXIMATE),
        ("about 300", "400", DIFFERENT), ("over 2 million", "2,087,000", APPROXIMATE), ("over 2 million", "1,900,000", DIFFERENT),
        ("at least 18 years", "18 years", EQUAL), ("at least 5", "at most 5", DIFFERENT), ("About three hundred", "roughly 300", EQUAL),
        ("3.14", "3.14159", APPROXIMATE), ("67", "67.4", APPROXIMATE), ("4", "3.5", DIFFERENT), ("67.4", "67", DIFFERENT), ("3.15", "3.14159", DIFFERENT),
        ("2.5 million", "2,487,000", APPROXIMATE), ("5 days", "5-7 days", APPROXIMATE), ("6 days", "5-7 days", DIFFERENT), ("5 to 7 days", "5–7 days", EQUAL),
        ("1.5 m", "1,500 mm", EQUAL), ("1.500 m", "1500 m", EQUAL), ("99億", "1400万", DIFFERENT), ("2nd", "3rd", DIFFERENT), ("1500 people", "1,500 people", EQUAL),
        ("5 sq ft", "5 m²", DIFFERENT), ("1 GB", "1000 MB", EQUAL), ("60 mph", "96.6 km/h", APPROXIMATE), ("3-1", "3–1", EQUAL),
    ],
)  # fmt: skip
def test_two_quantities_are_compared_by_their_meaning(answer: str, source: str, expected: Agreement) -> None:
    assert compare(only(answer), only(source)) is expected


@pytest.mark.parametrize(
    ("answer", "source", "conflict"),
    [
        ("It is 12 cm wide.", "12 mm", "cm"),
        ("Am 1. Mai 2002 eröffnet.", "1. Mai 2020", "2002"),
        ("Am 2. Mai 2020 eröffnet.", "1. Mai 2020", "2"),
        ("on 14 April 2021", "14 March 2021", "April"),
        ("on 2021-03-15", "14 March 2021", "2021-03-15"),
        ("within 60 days", "30 days", "60"),
        ("it seats 99億人", "1400万", "99億"),
        ("worth $3.5M", "$2.5M", "3.5M"),
        ("It costs 9 EUR.", "7 EUR", "9"),
        ("It costs 7 USD.", "7 EUR", "USD"),
        ("built 1901-1911", "1901-1904", "1911"),
        ("in v2.3.10", "v2.3.1", "v2.3.10"),
        ("The lake is **888** m deep.", "41 m", "888"),
        ("ouvre à 9 h", "à 7 h", "9"),
        ("at least 5", "at most 5", "at least"),
        ("1932年に", "1931年", "1932"),
    ],
)
def test_the_conflict_is_the_smallest_part_that_is_wrong(answer: str, source: str, conflict: str) -> None:
    quantity = only(answer)
    start, end = conflict_offsets(quantity, only(source))
    assert answer[start:end].rstrip("年") == conflict


def test_a_more_specific_date_adds_detail() -> None:
    assert adds_detail(only("14 March 2021"), only("March 2021"))
    assert not adds_detail(only("March 2021"), only("14 March 2021"))


@pytest.mark.parametrize(("language", "value"), [("en", 12500.0), ("de", 12.5)])
def test_a_known_language_settles_an_ambiguous_separator(language: str, value: float) -> None:
    quantity = only("12,500", language)
    assert (quantity.low, quantity.alternative) == (value, None)


def test_canonically_equal_accents_give_the_same_quantity() -> None:
    composed, decomposed = only("5 ann\u00e9es"), only("5 anne\u0301es")
    assert composed.unit == decomposed.unit == "year"
    assert decomposed.text == "5 anne\u0301es"


_PIECES = st.sampled_from(
    [
        "12", "1,500", " ", "-", "–", "km", "May ", "2021", ":", "/", "%", "$", "€", "three ", "hundred ", "half a ", "e\u0301", "年", "万", "二十",
        "🎉", "\u202e", "שלום ", "٣٤", "२", "\u00a0", "**", "about ", "to ", "and ", "a.m.", "th ", "v", ".", ",", "'", "\r\n", "\ud800", "½", "²", "BC", "+", "(",
    ]
)  # fmt: skip
_TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(_PIECES, max_size=14).map("".join),
    st.text("0123456789 .,:-/%kmM", max_size=40),
)
_LANGUAGES = st.sampled_from([None, "en", "de", "fr", "zh", "xx"])


@settings(max_examples=250, deadline=None)
@given(_TEXTS, _LANGUAGES)
def test_offsets_slice_the_text_and_never_overlap(text: str, language: str | None) -> None:
    position = 0
    for quantity in find_quantities(text, language):
        assert position <= quantity.start < quantity.end <= len(text)
        assert text[quantity.start : quantity.end] == quantity.text
        assert quantity.start <= quantity.value_start < quantity.value_end <= quantity.end
        if quantity.unit_start is not None:
            assert quantity.unit_end is not None
            assert quantity.start <= quantity.unit_start < quantity.unit_end <= quantity.end
        position = quantity.end


@settings(max_examples=150, deadline=None)
@given(_TEXTS)
def test_a_quantity_equals_itself(text: str) -> None:
    for quantity in find_quantities(text):
        if quantity.low is None or quantity.low == quantity.low:
            assert compare(quantity, quantity) is EQUAL


@settings(max_examples=150, deadline=None)
@given(_TEXTS, _TEXTS)
def test_any_two_quantities_can_be_compared(first: str, second: str) -> None:
    for answer in find_quantities(first):
        for source in find_quantities(second):
            compare(answer, source)
            adds_detail(answer, source)
            start, end = conflict_offsets(answer, source)
            assert 0 <= start < end <= len(first)


@settings(max_examples=100, deadline=None)
@given(_TEXTS, st.integers(1, 5))
def test_leading_line_breaks_shift_every_offset(text: str, count: int) -> None:
    before = [(q.start, q.end, q.kind) for q in find_quantities(text)]
    after = [(q.start - count, q.end - count, q.kind) for q in find_quantities("\n" * count + text)]
    assert before == after


@pytest.mark.parametrize("piece", ["1", "1,", "1.", "1 ", "1-", "a1", "1/", "one ", "一", "1万", "a-", "$", "1'"])
def test_the_time_grows_linearly(piece: str) -> None:
    find_quantities(piece * 10)

    def seconds(count: int) -> float:
        begin = time.thread_time()
        find_quantities(piece * count)
        return time.thread_time() - begin

    small, large = seconds(2_000), seconds(16_000)
    assert large < 40 * small + 0.05
