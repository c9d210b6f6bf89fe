"""Contexts and answers beyond the model's window."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_guard.models.causal_lm import ScoreRequest
from rag_guard.models.prompts import PromptBuilder
from rag_guard.models.windows import answer_pieces, prompt_windows
from tests.causal_lm.tiny import byte_level_tokenizer

BUILDER = PromptBuilder(byte_level_tokenizer())
documents = st.lists(st.text(alphabet="the tower 日.\n", max_size=120), max_size=6)


@given(st.integers(1, 400), st.integers(16, 200))
def test_pieces_cover_every_answer_token_once_and_fit_half_the_window(tokens, window):
    pieces = answer_pieces(tokens, window)
    assert [i for piece in pieces for i in range(piece.start, piece.stop)] == list(range(tokens))
    for piece in pieces:
        assert 0 <= piece.context <= piece.start < piece.stop
        assert piece.stop - piece.context <= window // 2


@settings(deadline=None)
@given(documents, st.none() | st.text(max_size=80), st.integers(32, 128), st.integers(1, 300))
def test_every_prompt_leaves_room_for_the_answer(texts, question, window, answer):
    prompts = prompt_windows(BUILDER, texts, question, window, answer)
    assert prompts
    for prompt in prompts:
        assert len(prompt) + min(answer, window // 2) <= window
        assert prompt[0] == BUILDER.head[0]
        assert prompt[-1] == BUILDER.tail[-1]


def test_every_word_of_every_document_is_in_some_window():
    texts = [" ".join(f"w{number}{letter}" for number in range(30)) for letter in "abcd"]
    tokenizer = byte_level_tokenizer()
    windows = [tokenizer.decode(ids) for ids in prompt_windows(BUILDER, texts, "why", 128, 20)]
    assert len(windows) > 1
    assert all("why" in text for text in windows)
    for text in texts:
        for word in text.split():
            assert any(word in window for window in windows)


def test_what_fits_is_one_window_with_all_documents():
    (prompt,) = prompt_windows(BUILDER, ["one", "two"], "why", 128, 20)
    assert prompt == BUILDER.prompt(["one", "two"], "why")


def test_a_context_beyond_the_window_gives_one_view_per_window(make_lm):
    lm = make_lm(positions=64)
    texts = [f"The tower number {n} was finished in 18{n}." for n in range(10, 16)]
    (result,) = lm.score([ScoreRequest("It is in Paris.", texts, "where")], layers=[2], attention_layer=2)
    assert len(result.with_documents) > 1
    for view in result.with_documents:
        assert view.log_probs.shape == (len(result.tokens.ids),)
        assert np.isfinite(view.log_probs).all()


def test_an_answer_longer_than_the_window_is_scored_to_its_end(make_lm):
    answer = "The tower stands in Paris, and it was finished in 1889. " * 8
    long, short = make_lm(positions=64), make_lm(positions=2048)
    request = ScoreRequest(answer, ("It stands in Paris.",), "where")
    (pieces,) = long.score([request], layers=[2], attention_layer=2)
    (whole,) = short.score([request], layers=[2], attention_layer=2)
    total = len(whole.tokens.ids)
    assert total > 64
    assert pieces.without.log_probs.shape == (total,)
    assert pieces.without.hidden[2].shape == (total, 32)
    assert pieces.without.attention.shape == (total, total)
    np.testing.assert_allclose(pieces.without.attention[1:].sum(1), 1.0, atol=1e-5)
    # The first piece sees the same prompt and the same beginning.
    np.testing.assert_allclose(pieces.without.log_probs[:32], whole.without.log_probs[:32], atol=1e-4)
