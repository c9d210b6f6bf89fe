"""Citation markers and what only looks like one."""

from __future__ import annotations

import pytest

from rag_guard.text.citations import find_citations


def markers(text: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(text[marker.start : marker.end], marker.numbers) for marker in find_citations(text)]


@pytest.mark.parametrize(
    ("marker", "numbers"),
    [
        ("[1]", (1,)), ("[12]", (12,)), ("[1, 3]", (1, 3)), ("[1;3]", (1, 3)), ("[1-3]", (1, 2, 3)),
        ("[2–4]", (2, 3, 4)), ("[^1]", (1,)), ("[#2]", (2,)), ("[doc 2]", (2,)), ("[Document 1]", (1,)),
        ("[Doc. 3; Doc. 4]", (3, 4)), ("[source: 2]", (2,)), ("[Passage 1 and Passage 3]", (1, 3)),
        ("(Source 3)", (3,)), ("(Sources 1 and 2)", (1, 2)), ("(see passage 2)", (2,)),
        ("(passages 1, 2, and 3)", (1, 2, 3)), ("(based on passage 2)", (2,)), ("(Quelle 2)", (2,)),
        ("(Fuentes 1 y 2)", (1, 2)), ("(资料3)", (3,)), ("【1】", (1,)), ("【2†source】", (2,)), ("[[4]]",
        (4,)),
        ("<sup>5</sup>", (5,)), ("[1](http://x.y/z)", (1,)), ("[[1]](http://x.y)", (1,)),
    ],
)  # fmt: skip
def test_markers_name_their_documents(marker: str, numbers: tuple[int, ...]) -> None:
    assert markers(f"The tower was finished in 1903 {marker}.") == [(marker, numbers)]
    assert markers(f"The tower was finished in 1903{marker}") == [(marker, numbers)]


def test_neighbouring_markers_are_two() -> None:
    assert markers("A [2][5].") == [("[2]", (2,)), ("[5]", (5,))]


@pytest.mark.parametrize(
    "text",
    [
        "in the census [1998] of", "the array a[1] is", "my_list[2] holds", "rows[0] = 3", "x = [1, 2]",
        '{"sizes": [1, 2]}', "- [x] done", "[label](http://x.y)", "`a [1]`", "```\nb [1]\n```", "(12)",
        "(3 sources)",
        "(in 1990)", "[sic]", "[1",
    ],
)  # fmt: skip
def test_lookalikes_are_no_markers(text: str) -> None:
    assert markers(text) == []
