from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_guard.text.windows import Field, Window, find_windows, split_identifier
from rag_guard.text.windows.structures import find_structures

TABLE = "| city | population | founded |\n|---|---|---|\n| Arden | 12,000 | 1640 |\n| Belmo | 48,000 | 1702 |"
BUSINESS = (
    "\n{'name': 'Blue Door', 'address': '1 Main St', 'hours': {'Sunday': '10:0-14:0'}, "
    "'attributes': {'OutdoorSeating': False, 'WiFi': 'free', 'Music': None, "
    "'Ambience': {'casual': True, 'classy': False}}, 'business_stars': 3.5, "
    "'review_info': [{'review_stars': 5.0, 'review_date': '2022-01-16', "
    "'review_text': 'Great food, and it\\'s cheap. We had eggs.\\n\\nWill come back!'}, "
    "{'review_stars': 1.0, 'review_date': '2022-01-17', "
    "'review_text': \"Don't go. The soup was cold and the room far too loud.\"}]}"
    "\nOverview:"
)


def quotes(text: str, windows: list[Window]) -> list[str]:
    return [text[window.start : window.end] for window in windows]


def field_of(text: str, name: str) -> tuple[Window, Field]:
    return next((w, f) for w in find_windows(text, 0) for f in w.fields if f.name == name)


def contexts(text: str, window: Window) -> list[str]:
    return [text[start:end] for start, end in window.context]


def check_invariants(text: str, windows: list[Window], covered: bool = True) -> None:
    position = 0
    for window in windows:
        assert position <= window.start < window.end <= len(text)
        position = window.end
        assert any(map(str.isalnum, text[window.start : window.end]))
        for start, end in window.context:
            assert 0 <= start < end <= len(text)
            assert end <= window.start or window.end <= start
        for field in window.fields:
            assert window.start <= field.start <= field.end <= window.end
            assert 0 <= field.name_start <= field.name_end <= len(text)
            assert field.path[-1:] in ((field.name,), ())
    if covered:
        held = bytearray(len(text))
        for start, end in [*((w.start, w.end) for w in windows), *(c for w in windows for c in w.context)]:
            held[start:end] = b"\1" * (end - start)
        assert not [(i, c) for i, c in enumerate(text) if c.isalnum() and not held[i]]


# prose


def test_a_prose_window_is_one_sentence() -> None:
    text = "Dr. Lee came at 4.30 p.m. today. The lake is 41 m deep."
    windows = find_windows(text, 3, "en")
    assert quotes(text, windows) == ["Dr. Lee came at 4.30 p.m. today.", "The lake is 41 m deep."]
    assert {window.document for window in windows} == {3}
    assert {window.kind for window in windows} == {"prose"}


def test_headings_are_path_and_context_of_what_stands_below() -> None:
    text = "# Manual\nIntro.\n\n## Care of the *pump*\nOil it.\n\n# Prices\nIt costs 7 EUR."
    windows = {text[w.start : w.end]: w for w in find_windows(text, 0)}
    assert windows["Intro."].path == ("Manual",)
    assert windows["Oil it."].path == ("Manual", "Care of the pump")
    assert contexts(text, windows["Oil it."]) == ["Manual", "Care of the *pump*"]
    assert windows["It costs 7 EUR."].path == ("Prices",)


def test_underlined_headings_count() -> None:
    text = "Manual\n======\nIntro.\n\nPump\n----\nOil it."
    assert [w.path for w in find_windows(text, 0) if text[w.start : w.end] == "Oil it."] == [("Manual", "Pump")]


def test_list_numbers_are_context_not_text() -> None:
    text = "1. The fee is 5 EUR.\n2. Children enter free."
    windows = find_windows(text, 0, "en")
    assert quotes(text, windows) == ["The fee is 5 EUR.", "Children enter free."]
    assert contexts(text, windows[1]) == ["2."]


@pytest.mark.parametrize("text", ["", "  \n\t", "...", "---\n***", "\ud800", "\x00", "​", "|", "{", "[]", "{}"])
def test_texts_without_letters_have_no_windows(text: str) -> None:
    assert find_windows(text, 0) == []


@pytest.mark.parametrize(
    "text",
    ["See [1] and [2, 5] for more.", 'Send {"id": 3} to the server.', "f(x) = {x | x > 0} holds.", "a | b"],
)
def test_brackets_in_a_sentence_do_not_break_it(text: str) -> None:
    assert quotes(text, find_windows(text, 0, "en")) == [text]


# tables


def test_a_table_row_has_a_field_per_cell_named_by_the_header() -> None:
    rows = find_windows(TABLE, 0)
    assert quotes(TABLE, rows) == ["| Arden | 12,000 | 1640 |", "| Belmo | 48,000 | 1702 |"]
    assert [window.kind for window in rows] == ["row", "row"]
    fields = rows[1].fields
    assert [(f.name, f.value) for f in fields] == [
        ("city", "Belmo"),
        ("population", 48000.0),
        ("founded", 1702.0),
    ]
    assert TABLE[fields[1].start : fields[1].end] == "48,000"
    assert TABLE[fields[1].name_start : fields[1].name_end] == "population"
    assert contexts(TABLE, rows[1]) == ["| city | population | founded |"]


@pytest.mark.parametrize(
    "text",
    [
        "city | population\n--- | ---\nArden | 12000\nBelmo | 48000",
        "city,population,founded\nArden,12000,1640\nBelmo,48000,1702",
        "city;population;founded\nArden;12000;1640\nBelmo;48000;1702",
        "City\tPopulation\nArden\t12000\nBelmo\t48000",
        "| **city** | **population** |\r\n|:---|---:|\r\n| Arden | `12000` |\r\n| Belmo | **48000** |",
        "| city | population |\n| Arden | 12000 |\n| Belmo | 48000 |",
        '"city","population","x"\n"Arden","12000","a, b"\n"Belmo","48000","said ""no"""',
    ],
)
def test_tables_of_every_spelling_give_rows(text: str) -> None:
    rows = [window for window in find_windows(text, 0) if window.kind == "row"]
    assert len(rows) == 2
    assert [(f.name, text[f.start : f.end]) for f in rows[1].fields][:2] == [
        ("city", "Belmo"),
        ("population", "48000"),
    ]
    check_invariants(text, find_windows(text, 0))


def test_cells_keep_what_they_mean() -> None:
    text = "| item | in stock | price | code | note |\n|---|---|---|---|---|\n| Mug | ✓ | 1,5 | 007 | - |"
    assert [f.value for f in find_windows(text, 0)[0].fields] == ["Mug", True, "1,5", "007", None]


@pytest.mark.parametrize(
    "text",
    [
        "Well, yes, of course.\nNow, then, let us go.\nSo, here, we are.",
        "He came, saw, and conquered\nthe town, the hill, and the lake\nand the rest, they say, is history",
    ],
)
def test_prose_with_commas_is_no_table(text: str) -> None:
    assert {window.kind for window in find_windows(text, 0, "en")} == {"prose"}


def test_rows_know_their_heading_and_prose_around_them_stays_prose() -> None:
    text = f"# Towns\nA list of towns.\n{TABLE}\n\nThat is all."
    windows = find_windows(text, 0, "en")
    assert [window.kind for window in windows] == ["prose", "prose", "row", "row", "prose"]
    assert windows[2].path == ("Towns",)
    assert contexts(text, windows[2]) == ["Towns", "| city | population | founded |"]


# records


def test_a_short_object_is_one_record_with_all_its_values() -> None:
    text = '{"built": "1901-1904", "height_m": 88, "architect": {"name": "P. Lind", "alive": false}}'
    (window,) = find_windows(text, 0)
    assert (window.kind, window.start, window.end) == ("record", 0, len(text))
    assert [(f.path, f.value) for f in window.fields] == [
        (("built",), "1901-1904"),
        (("height m",), 88.0),
        (("architect", "name"), "P. Lind"),
        (("architect", "alive"), False),
    ]
    assert [text[f.start : f.end] for f in window.fields] == ["1901-1904", "88", "P. Lind", "false"]
    assert [text[f.name_start : f.name_end] for f in window.fields] == ["built", "height_m", "name", "alive"]


def test_a_python_dict_gives_records_that_know_their_keys_and_name() -> None:
    window, seating = field_of(BUSINESS, "outdoor seating")
    assert seating.path == ("attributes", "outdoor seating")
    assert seating.value is False
    assert BUSINESS[seating.start : seating.end] == "False"
    assert BUSINESS[seating.name_start : seating.name_end] == "OutdoorSeating"
    assert window.path == ("attributes",)
    assert "Blue Door" in contexts(BUSINESS, window)
    assert field_of(BUSINESS, "casual")[1].path == ("attributes", "ambience", "casual")
    assert field_of(BUSINESS, "music")[1].value is None
    assert field_of(BUSINESS, "business stars")[1].value == 3.5


def test_texts_inside_records_are_sentences_of_the_raw_document() -> None:
    windows = find_windows(BUSINESS, 0, "en")
    reviews = [w for w in windows if w.path == ("review info", "review text")]
    assert quotes(BUSINESS, reviews) == [
        "Great food, and it\\'s cheap.",
        "We had eggs.",
        "Will come back!",
        "Don't go.",
        "The soup was cold and the room far too loud.",
    ]
    assert {"Blue Door", "review_text"} <= set(contexts(BUSINESS, reviews[0]))
    check_invariants(BUSINESS, windows, covered=False)


def test_text_after_a_structure_is_still_read() -> None:
    assert quotes(BUSINESS, find_windows(BUSINESS, 0))[-1] == "Overview:"


def test_json_lines_give_one_record_per_line() -> None:
    text = '{"id": 1, "town": "Arden"}\n{"id": 2, "town": "Belmo"}\n'
    assert quotes(text, find_windows(text, 0)) == text.splitlines()


@pytest.mark.parametrize("fence", ["```json\n", "```\n", "~~~python\n", ""])
def test_json_is_found_in_fences_and_between_prose(fence: str) -> None:
    closing = fence[:3]
    text = f'The record reads:\n\n{fence}{{"height_m": 88, "name": "Tower"}}\n{closing}\n\nIt is short.'
    windows = find_windows(text, 0, "en")
    assert [w.kind for w in windows] == ["prose", "record", "prose"]
    assert quotes(text, windows)[2] == "It is short."


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Tower", "height_m": 88, "text": "It was buil',
        '{"name": "Tower", "height_m": 88, "open',
        '{"name": "Tower", "height_m": 88, ',
        '{"name": "Tower", "height_m": 88, }',
        "{name: 'Tower', height_m: 88}",
        "{'name': 'Tower', 'height_m': 88, 'built': datetime.date(1901, 1, 1)}",
        "{'name': 'Tower', 'height_m': 88, 'nick': 'Joe's pride', 'x': 1}",
        '[{"name": "Tower", "height_m": 88}, {"name": ',
    ],
)
def test_broken_and_loose_syntax_keeps_what_can_be_read(text: str) -> None:
    assert field_of(text, "height m")[1].value == 88.0
    check_invariants(text, find_windows(text, 0))


def test_invalid_syntax_falls_back_to_prose() -> None:
    text = "{ this is not: valid at all. It costs 7 EUR."
    windows = find_windows(text, 0, "en")
    assert {window.kind for window in windows} == {"prose"}
    check_invariants(text, windows)


def test_escapes_are_decoded_in_values_and_raw_in_offsets() -> None:
    text = '{"town": "Caf\\u00e9 \\ud83d\\ude00 \\"A\\"\\n", "n": 1}'
    field = field_of(text, "town")[1]
    assert field.value == 'Café 😀 "A"\n'
    assert text[field.start : field.end] == 'Caf\\u00e9 \\ud83d\\ude00 \\"A\\"\\n'


def test_adjacent_python_strings_are_one_value() -> None:
    text = "{'name': 'Blue '\n         'Door', 'n': 1}"
    assert field_of(text, "name")[1].value == "Blue Door"


def test_large_objects_are_taken_apart() -> None:
    text = json.dumps({f"key{i}": f"value {i}" for i in range(200)})
    windows = find_windows(text, 0)
    assert len(windows) > 3
    assert max(w.end - w.start for w in windows) <= 600
    assert sum(len(w.fields) for w in windows) == 200


def test_yes_and_no_have_a_polarity_in_any_spelling() -> None:
    text = "{'a': True, 'b': 'no', 'c': 'free', 'd': None, 'e': 'Yes', 'f': 1.0}"
    assert [f.polarity for f in find_windows(text, 0)[0].fields] == [True, False, None, None, True, None]


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=20,
    ),
    st.sampled_from(["json", "ascii json", "pretty json", "repr"]),
)
def test_every_value_of_a_literal_is_read_at_its_place(value: object, style: str) -> None:
    value = {"first key": value, "last": 1.0}
    text = {
        "json": lambda: json.dumps(value, ensure_ascii=False),
        "ascii json": lambda: json.dumps(value),
        "pretty json": lambda: json.dumps(value, indent=2, ensure_ascii=False),
        "repr": lambda: repr(value),
    }[style]()
    (root,) = find_structures(text)
    assert (root.start, root.end) == (0, len(text))
    assert to_python(root) == value


def to_python(node: object) -> object:
    from rag_guard.text.windows.structures import Mapping, Scalar, Sequence

    if isinstance(node, Mapping):
        return {member.key.value: to_python(member.value) for member in node.members}
    if isinstance(node, Sequence):
        return [to_python(item) for item in node.items]
    assert isinstance(node, Scalar)
    return node.value


# key: value lines


def test_key_value_lines_are_a_record() -> None:
    lines = "- **Height (m):** 88\n- **Built:** 1901-1904\n- Open to visitors: yes"
    text = f"Specification\n\n{lines}\n\nIt stands in Holm."
    windows = find_windows(text, 0, "en")
    assert [w.kind for w in windows] == ["prose", "record", "prose"]
    assert [(f.name, text[f.start : f.end]) for f in windows[1].fields] == [
        ("height m", "88"),
        ("built", "1901-1904"),
        ("open to visitors", "yes"),
    ]


def test_indented_keys_have_the_keys_above_them_in_their_path() -> None:
    text = "name: Tower\nhours:\n  sunday: 10-14\n  monday: closed\nheight: 88"
    assert [f.path for f in find_windows(text, 0)[0].fields] == [
        ("name",),
        ("hours", "sunday"),
        ("hours", "monday"),
        ("height",),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Anna: hello there\nBob: hi\nAnna: how are you\nBob: fine",
        "Note: the gate is closed.\nWarning: do not enter.",
        "We left at 10:30\nand came back at 12:45",
    ],
)
def test_dialogues_notes_and_times_are_no_record(text: str) -> None:
    assert {window.kind for window in find_windows(text, 0, "en")} == {"prose"}


# code


def test_a_code_block_is_a_window_per_paragraph() -> None:
    text = "Use it:\n```python\nimport net\n\nsession = net.connect(host)\nsession.close()\n```\nDone."
    windows = find_windows(text, 0, "en")
    assert [(w.kind, text[w.start : w.end]) for w in windows] == [
        ("prose", "Use it:"),
        ("code", "import net"),
        ("code", "session = net.connect(host)\nsession.close()"),
        ("prose", "Done."),
    ]


# everything


SYNTAX = st.lists(
    st.sampled_from(
        ["{", "}", "[", "]", "'", '"', ":", ",", "|", "-", "\n", "\r\n", "#", "`", "```", " ", "\\", "\\n",
         "a", "B1", "True", "1.5", "key: ", "|---|---|\n", "{'a': ", "\t",
         "é", "e\u0301", "🎉", "\u200f", "\u00a0", "。", "x. Y"]
    ),
    max_size=60,
).map("".join)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200) | SYNTAX)
def test_windows_of_any_text_are_ordered_and_slice_it(text: str) -> None:
    check_invariants(text, find_windows(text, 0), covered=False)


@settings(max_examples=300, deadline=None)
@given(SYNTAX.map(lambda text: text.replace("\\", "")) | st.text(max_size=200).map(lambda t: t.replace("\\", "")))
def test_every_letter_and_digit_is_in_a_window_or_its_context(text: str) -> None:
    check_invariants(text, find_windows(text, 0))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["[", "{", '{"', "{'", '{"a":', "|", "|\n", "a|b\n", "a,b,c\n", "a: b\n", "```\n", "# a\n", "-|", "[x ",
     "- b\n", "`a` *b*\n", "{'a': 'b'c ", '{"\'{\'"', '{"id": 1}\n', "\\", "1", "a. "],
)  # fmt: skip
def test_time_is_linear_on_adversarial_texts(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        started = time.process_time()
        find_windows(text, 0, "en")
        return time.process_time() - started

    small = min(seconds(10_000) for _ in range(2))
    assert seconds(100_000) < 40 * small + 0.5


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("OutdoorSeating", "outdoor seating"),
        ("height_m", "height m"),
        ("review_stars", "review stars"),
        ("RestaurantsGoodForGroups", "restaurants good for groups"),
        ("HTTPServer", "http server"),
        ("WiFi", "wifi"),
        ("iPhoneModel", "iphone model"),
        ("kebab-case-key", "kebab case key"),
        ("Price (€)", "price €"),
        ("top10Items", "top10 items"),
        ("Öffnungszeiten", "öffnungszeiten"),
        ("高さ", "高さ"),
        ("", ""),
        ("???", "???"),
    ],
)
def test_identifiers_split_into_words(name: str, words: str) -> None:
    assert split_identifier(name) == words
