"""Layout: which ranges are text, and which are marks."""

from __future__ import annotations

import pytest

from rag_guard.text.blocks import find_blocks, find_cells, find_markup, mask_markup


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in find_blocks(text)]


def markup(text: str) -> list[str]:
    return [text[start:end] for start, end in find_markup(text)]


def test_plain_text_is_one_trimmed_paragraph_without_markup() -> None:
    assert blocks("\n\n  The hall seats 900. ") == [("paragraph", "The hall seats 900.")]
    assert markup("The hall seats 900.") == []
    assert blocks(" \n") == []


def test_lists_under_a_sentence_nested_and_with_any_marker() -> None:
    text = "Rules:\n1. One\n2) Two\n- three\n  * four\n+ five\n• six\n- [x] seven\n   goes on"
    assert blocks(text) == [
        ("paragraph", "Rules:"), ("list_item", "One"), ("list_item", "Two"), ("list_item", "three"),
        ("list_item", "four"), ("list_item", "five"), ("list_item", "six"),
        ("list_item", "seven\n   goes on"),
    ]  # fmt: skip
    assert markup(text) == ["1. ", "2) ", "- ", "  * ", "+ ", "• ", "- [x] "]


def test_a_date_or_a_negative_number_at_the_start_is_no_list_item() -> None:
    assert blocks("1. Mai 2020 war schön.") == [("paragraph", "1. Mai 2020 war schön.")]
    assert blocks("-5 degrees") == [("paragraph", "-5 degrees")]
    assert [kind for kind, _ in blocks("1. One\n2. Two")] == ["list_item", "list_item"]


def test_headings_rules_and_quotes() -> None:
    text = "# Title #\n\n---\n> quoted\n> more\n\nOther\n====="
    assert blocks(text) == [
        ("heading", "Title"), ("rule", "---"), ("quote", "quoted\n> more"), ("heading", "Other"),
    ]  # fmt: skip
    assert markup(text) == ["# ", " #", "---", "> ", "> ", "====="]


def test_tables_have_header_rule_rows_and_cells() -> None:
    text = "| city | pop |\n|:---|---:|\n| Arden | 12,000 |\n| a \\| b | |\nafter"
    found = find_blocks(text)
    assert [block.kind for block in found] == [
        "table_header",
        "table_rule",
        "table_row",
        "table_row",
        "paragraph",
    ]
    assert [text[start:end] for start, end in find_cells(text, found[2])] == ["Arden", "12,000"]
    assert [text[start:end] for start, end in find_cells(text, found[3])] == ["a \\| b"]
    assert find_cells(text, found[4]) == []


def test_rows_without_a_header_are_rows() -> None:
    assert blocks("| A | 12 |\n| B | 13 |") == [("table_row", "A | 12"), ("table_row", "B | 13")]


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_code_is_its_lines_and_the_info_string_is_markup(fence: str) -> None:
    text = f"Like this:\n{fence}python\nx = 1\n\n# no heading\n{fence}\nDone."
    assert blocks(text) == [
        ("paragraph", "Like this:"),
        ("code", "x = 1\n\n# no heading"),
        ("paragraph", "Done."),
    ]
    assert markup(text) == [f"{fence}python", fence]
    assert blocks(f"{fence}\nx = 1") == [("code", "x = 1")]


def test_inline_marks_are_markup_and_lookalikes_are_text() -> None:
    text = "**B** __u__ *i* `c*d*` [label](http://u.v/w_(x)) ![alt](i.png) ~~s~~ <br/> \\* a_b_c 2*3*4 a < b"
    assert markup(text) == [
        "**", "**", "__", "__", "*", "*", "`", "`", "[", "](http://u.v/w_(x))", "![", "](i.png)", "~~",
        "~~", "<br/>", "\\",
    ]  # fmt: skip


def test_emphasis_inside_a_word_of_a_script_without_spaces() -> None:
    assert markup("这是**重要**的") == ["**", "**"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_ends_lines(end: str) -> None:
    assert blocks(f"A{end}{end}- b{end}- c") == [("paragraph", "A"), ("list_item", "b"), ("list_item", "c")]


def test_masking_keeps_length_and_text() -> None:
    text = "The **lake** is `deep`."
    assert mask_markup(text, 0, len(text)) == "The   lake   is  deep ."
    assert mask_markup(text, 5, 9) == " lak"
