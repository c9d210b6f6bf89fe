from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_guard.report.marking import Range, cut, one_line, surroundings, visible

TEXTS = st.text(
    st.one_of(st.characters(), st.sampled_from("\r\n\t \u0301\u200f\u05d0\u202e👩\u200d🚀<>&\"'\x1b\x00\ud800**`")),
    max_size=60,
)
RANGES = st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=8)


@given(TEXTS, RANGES)
def test_pieces_join_to_the_visible_text_whatever_ranges_overlap(text: str, ranges: list[tuple[int, int]]) -> None:
    pieces = cut(text, [Range(start, end, n) for n, (start, end) in enumerate(ranges)])
    assert "".join(piece.text for piece in pieces) == visible(text)


@given(TEXTS, RANGES)
def test_every_range_inside_the_text_opens_covers_and_closes_once(text: str, ranges: list[tuple[int, int]]) -> None:
    pieces = cut(text, [Range(start, end, n) for n, (start, end) in enumerate(ranges)])
    for n, (start, end) in enumerate(ranges):
        inside = 0 <= start < end <= len(text)
        assert sum(n in piece.opens for piece in pieces) == inside
        assert sum(n in piece.closes for piece in pieces) == inside
        if inside:
            covered = "".join(piece.text for piece in pieces if n in piece.keys)
            # A range that ends between CR and LF leaves the line end to what follows.
            cut_line_end = text[end - 1] == "\r" and text[end : end + 1] == "\n"
            starts_in_line_end = text[start] == "\n" and start > 0 and text[start - 1] == "\r"
            if not cut_line_end and not starts_in_line_end:
                assert covered == visible(text[start:end])


def test_overlapping_ranges_are_cut_into_pieces_with_all_their_keys() -> None:
    pieces = cut("abcdef", [Range(0, 4, "left"), Range(2, 6, "right")])
    assert [(piece.text, piece.keys) for piece in pieces] == [
        ("ab", ("left",)),
        ("cd", ("left", "right")),
        ("ef", ("right",)),
    ]


@given(TEXTS)
def test_visible_text_cannot_drive_a_terminal_and_can_be_encoded(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert not any(ord(char) < 0x20 and char not in "\n\t" for char in shown)
    assert "\x7f" not in shown
    assert "\x9b" not in shown


def test_visible_keeps_combining_marks_emoji_and_right_to_left_text() -> None:
    text = "e\u0301 👩\u200d🚀 שלום ١٩٦٧"
    assert visible(text) == text


def test_one_line_cuts_at_a_word() -> None:
    assert one_line("The quick\n brown   fox jumps", 16) == "The quick brown…"
    assert one_line("short", 16) == "short"
    assert len(one_line("x" * 1000, 16)) == 16


def test_surroundings_stay_on_the_line_and_end_at_words() -> None:
    text = "Heading\n" + "word " * 30 + "41 m" + " deep" * 30 + "\nnext"
    start = text.index("41 m")
    before, after = surroundings(text, start, start + 4, reach=22)
    assert before == "…word word word word "
    assert after == " deep deep deep deep…"
    assert surroundings("a\r\nb 41 c\r\nd", 5, 7) == ("b ", " c")


def test_border_inside_a_line_end_adds_no_line() -> None:
    pieces = cut("ab\r\ncd", [Range(0, 3, "before"), Range(3, 6, "after")])
    assert [piece.text for piece in pieces] == ["ab", "\ncd"]
