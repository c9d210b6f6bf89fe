"""Ranking of evidence windows: coverage in [0, 1], blind to the order and number of documents."""

from __future__ import annotations

import itertools

import pytest

from rag_guard import Document
from rag_guard.text.corpus import Corpus
from rag_guard.text.quantities import find_quantities
from rag_guard.text.relevance import rank_windows
from rag_guard.text.words import find_words

TEXTS = [
    "The ferry to Holm costs 12 EUR.",
    "The ferry to Lund costs 15 EUR.",
    "The museum of Holm is open daily.",
    "# Castle\n\nTickets cost 9 EUR.",
]


def ranked(statement: str, texts: list[str], **options):
    corpus = Corpus(tuple(Document(text=text) for text in texts))
    words, quantities = find_words(statement, "en"), find_quantities(statement, "en")
    found = rank_windows(words, quantities, corpus, **options)
    return [(corpus.window_text(item.window), item.relevance, item.own) for item in found]


def test_the_window_that_says_it_all_comes_first_with_full_relevance():
    best = ranked("The ferry to Holm costs 12 EUR.", TEXTS)[0]
    assert best == (TEXTS[0], pytest.approx(1.0), pytest.approx(1.0))


def test_relevance_is_ordered_and_in_range():
    found = ranked("The ferry to Holm costs 15 EUR and the castle is open.", TEXTS)
    assert all(0 <= own <= relevance <= 1 for _, relevance, own in found)
    assert [item[1] for item in found] == sorted((item[1] for item in found), reverse=True)


def test_a_value_counts_by_what_it_is_worth_not_by_how_it_is_written():
    texts = ["The hike to Holm takes 2 hours.", "The hike to Holm takes 3 hours."]
    assert ranked("The hike to Holm takes 120 minutes.", texts)[0][0] == texts[0]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_the_order_of_documents_changes_nothing(order):
    statement = "The ferry costs EUR in Holm."
    assert ranked(statement, [TEXTS[i] for i in order]) == ranked(statement, TEXTS)


def test_a_repeated_document_changes_nothing():
    statement = "The ferry to Holm costs 12 EUR."
    assert ranked(statement, [*TEXTS, TEXTS[1], TEXTS[0]]) == ranked(statement, TEXTS)


def test_a_heading_counts_less_than_the_text_itself():
    texts = ["# Castle\n\nTickets cost 9 EUR.", "Castle tickets cost 9 EUR."]
    found = {text: (relevance, own) for text, relevance, own in ranked("Castle tickets cost 9 EUR.", texts)}
    (partial, own), (full, _) = found["Tickets cost 9 EUR."], found["Castle tickets cost 9 EUR."]
    assert own < partial < full


def test_a_statement_of_function_words_finds_nothing():
    assert ranked("It is what it was.", TEXTS) == []


def test_stems_from_the_context_of_a_statement_choose_among_windows():
    statement = "It costs EUR."
    castle = ranked(statement, TEXTS, extra=("castl",))[0][0]
    assert castle == "Tickets cost 9 EUR."


def test_the_limit_holds_among_many_windows_that_fit():
    texts = [f"The ferry number {n} costs {n} EUR." for n in range(90)]
    found = ranked("The ferry number 41 costs 41 EUR.", texts, limit=3)
    assert len(found) == 3
    assert found[0][0] == texts[41]


def test_windows_that_fit_alike_are_ordered_by_their_text():
    texts = ["The ferry is red.", "The ferry is old."]
    assert [item[0] for item in ranked("ferry", texts)] == sorted(texts)
    assert [item[0] for item in ranked("ferry", texts[::-1])] == sorted(texts)
