"""Documents analysed once: shared between calls, blind to duplicates, with offsets into the caller's texts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_guard import Document
from rag_guard.text.corpus import Corpus
from rag_guard.text.corpus_cache import corpus_for
from rag_guard.text.quantities import find_quantities

TOWER = "The Harbour Tower is 88 m tall. It was finished in 1903."
TABLE = "| shop | bikes |\n|---|---|\n| Arden | 25 |\n| Belmo | 40 |"


def corpus(*texts: str) -> Corpus:
    return Corpus(tuple(Document(text=text) for text in texts))


def test_the_same_texts_share_one_analysis():
    documents = (Document(text="A corpus that only this test reads, 4711."),)
    assert corpus_for(documents) is corpus_for(documents)
    assert corpus_for(documents) is corpus_for((Document(text=documents[0].text),))


def test_other_ids_share_the_analysis_but_keep_their_own_documents():
    text = "Another corpus of this test alone, 4712."
    first = corpus_for((Document(text=text, id="a"),))
    windows = first.windows
    second = corpus_for((Document(text=text, id="b"),))
    assert second.windows is windows
    assert [document.id for document in first.documents] == ["a"]
    assert [document.id for document in second.documents] == ["b"]


def test_threads_get_corpora_of_their_own_documents():
    def texts(number: int) -> list[str]:
        found = corpus_for((Document(text=f"Gauge {number % 100} shows {number % 100} bar."),))
        return [found.window_text(index) for index in range(len(found.windows))]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(texts, range(400)))
    assert all(result == [f"Gauge {n % 100} shows {n % 100} bar."] for n, result in enumerate(results))


def test_a_duplicate_document_adds_nothing():
    once, twice = corpus(TOWER, TABLE), corpus(TOWER, TABLE, TOWER, TABLE)
    assert twice.windows == once.windows
    assert twice.norms == once.norms
    assert twice.idf("tower") == once.idf("tower")


def test_words_and_quantities_have_offsets_into_their_document():
    both = corpus(TOWER, TABLE)
    for window, words, quantities in zip(both.windows, both.window_words, both.window_quantities, strict=True):
        text = both.documents[window.document].text
        assert all(text[word.start : word.end] == word.text for word in words)
        assert all(text[quantity.start : quantity.end] == quantity.text for quantity in quantities)
        assert all(window.start <= word.start and word.end <= window.end for word in words)
    for window, words in zip(both.windows, both.context_words, strict=True):
        text = both.documents[window.document].text
        assert all(text[word.start : word.end] == word.text for word in words)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text('ab1 .\n|-#{}":é東\ud800🙂', max_size=60), max_size=4))
def test_windows_of_any_text_hold_their_own_words(texts):
    found = corpus(*texts)
    for index, words in enumerate(found.window_words):
        window = found.windows[index]
        assert found.window_text(index) == found.documents[window.document].text[window.start : window.end]
        assert all(window.start <= word.start and word.end <= window.end for word in words)


@pytest.mark.parametrize(("texts", "blank"), [((), True), (("", " …\n"), True), ((" -", "7"), False)])
def test_blank_means_no_letter_or_digit(texts, blank):
    assert corpus(*texts).is_blank is blank


def test_idf_falls_with_the_number_of_windows():
    found = corpus("The tower is tall.", "The tower is old.", "The ferry is slow.")
    stem = {word.norm: word.stem for words in found.window_words for word in words}
    assert 0 < found.idf(stem["tower"]) < found.idf(stem["ferry"]) < found.idf("zeppelin") == 1.0


def test_neighbours_stop_at_the_end_of_a_document():
    found = corpus("Alpha rests. Bravo rises.", "Charlie runs.")
    last = [found.window_text(i) for i in range(len(found.windows))].index("Charlie runs.")
    assert found.neighbour_stems(last) == frozenset()
    assert "alpha" in found.neighbour_stems(1)


def test_values_agree_across_units_and_notations():
    found = corpus("The trail is 5 km long.", "The wall is 5 m high.", "It took 1.5 hours.")
    (metres,) = find_quantities("5000 m", "en")
    (minutes,) = find_quantities("90 minutes", "en")
    (unknown,) = find_quantities("77 kg", "en")
    assert [found.window_text(i) for i in found.windows_agreeing(metres)] == ["The trail is 5 km long."]
    assert [found.window_text(i) for i in found.windows_agreeing(minutes)] == ["It took 1.5 hours."]
    assert found.windows_agreeing(unknown) == []


def test_acronyms_skip_function_words():
    found = corpus("The Board of Northern Lakes met.")
    assert found.acronyms["bnl"] == 0


@pytest.mark.parametrize(
    ("form", "name", "matches"),
    [("CA", "california", True), ("Dr", "drive", True), ("Dr", "doctor", True), ("Blvd", "boulevard", False),
     ("CA", "oregon", False), ("Ca", "carolina", True)],
)  # fmt: skip
def test_abbreviations_keep_the_order_of_letters(form, name, matches):
    assert (corpus(f"They met near Lund {form} today.").abbreviation(name) is not None) is matches
