"""What a packed pass gives is what the plain model gives, at less work."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rag_guard.errors import InvalidInputError
from rag_guard.models.causal_lm import ScoreRequest
from rag_guard.models.tree_attention import ATTENTION_NAME

DOCUMENTS = ("The tower was finished in 1889.", "It stands in Paris.")
REQUESTS = [
    ScoreRequest("The tower stands in Paris.", DOCUMENTS, "where is the tower"),
    ScoreRequest("It was finished in 1899, in Rome, I think.", DOCUMENTS, "where is the tower"),
    ScoreRequest("No.", ("Who knows.",), None),
    ScoreRequest("Café 日本語 🧬!", (), "what is this"),
]


def plain(lm, prompt, ids):
    """Hidden states and attentions of every layer and log-probabilities, by the model's eager attention."""
    lm.model.set_attn_implementation("eager")
    with torch.inference_mode():
        output = lm.model(torch.tensor([prompt + ids]), output_hidden_states=True, output_attentions=True)
    lm.model.set_attn_implementation(ATTENTION_NAME)
    logits = output.logits[0, len(prompt) - 1 : -1].float()
    log_probs = logits.log_softmax(-1)
    own = log_probs.gather(1, torch.tensor(ids)[:, None])
    return {
        "log_probs": own[:, 0].numpy(),
        "entropies": -(log_probs.exp() * log_probs).sum(-1).numpy(),
        "ranks": (log_probs > own).sum(-1).numpy(),
        "hidden": [states[0, len(prompt) :].numpy() for states in output.hidden_states],
        "attentions": [layer[0, :, len(prompt) :, len(prompt) :].mean(0).numpy() for layer in output.attentions],
    }


@pytest.mark.parametrize(
    ("cls", "config"),
    [("Llama", {}), ("Mistral", {"sliding_window": 12}), ("Gemma2", {"head_dim": 8, "sliding_window": 12})],
)
def test_views_equal_the_plain_model(make_lm, cls, config):
    lm = make_lm(cls=cls, config=config)
    results = lm.score(REQUESTS, layers=range(4), attention_layer=2)
    for request, result in zip(REQUESTS, results, strict=True):
        prompts = (
            lm.prompts.prompt(request.documents, request.question),
            lm.prompts.prompt((), request.question),
        )
        (seen,) = result.with_documents
        for prompt, view in zip(prompts, (seen, result.without), strict=True):
            expected = plain(lm, prompt, result.tokens.ids)
            np.testing.assert_allclose(view.log_probs, expected["log_probs"], atol=1e-4)
            np.testing.assert_allclose(view.entropies, expected["entropies"], atol=1e-4)
            np.testing.assert_array_equal(view.ranks, expected["ranks"])
            for layer in range(4):
                np.testing.assert_allclose(view.hidden[layer], expected["hidden"][layer], atol=1e-4)
            weights = np.tril(expected["attentions"][1], -1)
            weights[1:] /= weights[1:].sum(1, keepdims=True)
            np.testing.assert_allclose(view.attention, weights, atol=1e-4)


def test_a_batch_equals_its_answers_one_by_one(make_lm):
    together = make_lm(max_rows=120).score(REQUESTS, layers=[2], attention_layer=2)
    for request, expected in zip(REQUESTS, together, strict=True):
        (alone,) = make_lm().score([request], layers=[2], attention_layer=2)
        np.testing.assert_allclose(alone.without.log_probs, expected.without.log_probs, atol=1e-4)
        for one, other in zip(alone.with_documents, expected.with_documents, strict=True):
            np.testing.assert_allclose(one.log_probs, other.log_probs, atol=1e-4)
            np.testing.assert_allclose(one.hidden[2], other.hidden[2], atol=1e-4)
            np.testing.assert_allclose(one.attention, other.attention, atol=1e-4)


def test_a_cached_prompt_equals_a_fresh_one(make_lm):
    lm = make_lm()
    first = lm.score(REQUESTS[:1])[0]
    rows = lm.counters.rows
    again = lm.score(REQUESTS[:2], layers=[2])
    fresh = make_lm(prefix_cache_bytes=0).score(REQUESTS[:2], layers=[2])
    assert lm.counters.cached_prompts == 2
    answers = sum(1 + len(result.tokens.ids) for result in again)
    assert lm.counters.rows - rows == 2 * answers
    np.testing.assert_allclose(again[0].without.log_probs, first.without.log_probs, atol=1e-3)
    for one, other in zip(again, fresh, strict=True):
        np.testing.assert_allclose(one.with_documents[0].log_probs, other.with_documents[0].log_probs, atol=1e-3)
        np.testing.assert_allclose(one.without.hidden[2], other.without.hidden[2], atol=1e-3)


def test_a_prompt_cached_by_a_short_pass_is_not_taken_for_a_deep_one(make_lm):
    lm = make_lm()
    lm.score(REQUESTS[:1], logits=False, layers=[1])
    deep = lm.score(REQUESTS[:1])[0]
    np.testing.assert_allclose(deep.without.log_probs, make_lm().score(REQUESTS[:1])[0].without.log_probs, atol=1e-4)


def test_answers_under_one_prompt_share_its_rows_and_logits_are_for_answers_only(make_lm):
    lm = make_lm(prefix_cache_bytes=0)
    same = [ScoreRequest(f"It is in {place}.", DOCUMENTS, "where") for place in ("Paris", "Rome", "Oslo")]
    results = lm.score([*same, same[0]])
    lengths = [len(result.tokens.ids) for result in results[:3]]
    prompts = len(lm.prompts.prompt(DOCUMENTS, "where")) + len(lm.prompts.prompt((), "where"))
    assert lm.counters.forwards == 1
    # Without hidden states an answer's last token need not be read; its prompt's last token is its first row.
    assert lm.counters.rows == prompts - 2 + 2 * sum(lengths)
    assert lm.counters.logit_rows == 2 * sum(lengths)
    np.testing.assert_array_equal(results[0].without.log_probs, results[3].without.log_probs)


def test_no_block_above_the_highest_layer_runs_when_no_logits_are_asked(make_lm):
    lm = make_lm()
    ran = []
    for index, block in enumerate(lm.model.model.layers, start=1):
        block.register_forward_pre_hook(lambda module, inputs, index=index: ran.append(index))
    lm.score(REQUESTS[:1], logits=False, layers=[2], attention_layer=1)
    assert ran == [1, 2]
    assert lm.counters.logit_rows == 0


def test_attention_is_kept_for_one_layer_only(make_lm):
    lm = make_lm()
    (result,) = lm.score(REQUESTS[:1], logits=False, attention_layer=2)
    attention = result.without.attention
    assert attention.shape == (len(result.tokens.ids),) * 2
    np.testing.assert_allclose(attention[1:].sum(1), 1.0, atol=1e-5)
    assert not np.triu(attention).any()


def test_logits_are_held_in_pieces_of_fixed_size(make_lm, monkeypatch):
    from rag_guard.models import causal_lm

    lm = make_lm()
    expected = lm.score(REQUESTS)[1]
    sizes = []
    head = lm.model.get_output_embeddings()
    head.register_forward_hook(lambda module, inputs, output: sizes.append(output.numel()))
    monkeypatch.setattr(causal_lm, "_LOGIT_ELEMENTS", 3 * head.weight.shape[0])
    pieces = lm.score(REQUESTS)[1]
    assert max(sizes) == 3 * head.weight.shape[0]
    np.testing.assert_allclose(pieces.without.log_probs, expected.without.log_probs, atol=1e-5)


@pytest.mark.parametrize("documents", [(), ("",), DOCUMENTS])
@pytest.mark.parametrize("question", [None, "", "why"])
def test_empty_answer_single_token_and_empty_question_are_scored(make_lm, documents, question):
    empty, single = make_lm().score(
        [ScoreRequest("", documents, question), ScoreRequest("a", documents, question)],
        layers=[1],
        attention_layer=1,
    )
    assert len(empty.tokens.ids) == 0
    assert empty.without.log_probs.shape == (0,)
    assert single.with_documents[0].log_probs.shape == (1,)
    assert single.without.hidden[1].shape == (1, 32)
    assert single.without.attention.tolist() == [[0.0]]


def test_a_model_without_single_layer_attention_is_scored_answer_by_answer(make_lm, monkeypatch):
    from transformers import LlamaForCausalLM

    expected = make_lm().score(REQUESTS, layers=[2])
    monkeypatch.setattr(LlamaForCausalLM, "_supports_attention_backend", False)
    lm = make_lm()
    for one, other in zip(lm.score(REQUESTS, layers=[2]), expected, strict=True):
        np.testing.assert_allclose(one.without.log_probs, other.without.log_probs, atol=1e-4)
        np.testing.assert_allclose(one.with_documents[0].hidden[2], other.with_documents[0].hidden[2], atol=1e-4)
    with pytest.raises(InvalidInputError, match="attention_layer=None"):
        lm.score(REQUESTS, attention_layer=1)


@pytest.mark.parametrize("options", [{"layers": [4]}, {"attention_layer": 0}, {"logits": False}])
def test_a_layer_that_does_not_exist_is_refused(make_lm, options):
    with pytest.raises(InvalidInputError):
        make_lm().score(REQUESTS, **options)
