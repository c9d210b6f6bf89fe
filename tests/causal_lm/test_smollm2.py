"""The default model: its file, its tokenizer, and what it makes of a fact and a falsehood."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rag_guard.detectors.answer_scorer import AnswerScorer
from rag_guard.detectors.context_sensitivity import ContextSensitivity
from rag_guard.detectors.delta_probe import DeltaProbe
from rag_guard.documents import as_documents
from rag_guard.errors import InvalidInputError, ModelNotFoundError
from rag_guard.models import catalog
from rag_guard.models.causal_lm import ScoreRequest
from rag_guard.models.loading import load_causal_lm
from rag_guard.text.analysis import Analysis
from rag_guard.text.corpus_cache import corpus_for

NAME = "smollm2-135m-instruct"
DOCUMENTS = ("The lighthouse on Vinga was built in 1890 by the engineer Gustaf von Heidenstam.",)
QUESTION = "When was the lighthouse on Vinga built, and by whom?"


@pytest.fixture(scope="module")
def smollm2():
    if catalog.find(NAME) is None:
        pytest.skip(f"run `rag-guard models pull {NAME}`")
    return load_causal_lm(NAME)


def text(model, result):
    return [model.tokenizer.decode([token]) for token in result.tokens.ids]


@pytest.mark.slow
def test_documents_make_their_own_year_likelier_and_another_one_not(smollm2):
    answers = ["It was built in 1890.", "It was built in 1764."]
    true, false = smollm2.score([ScoreRequest(answer, DOCUMENTS, QUESTION) for answer in answers])
    gains = [(r.with_documents[0].log_probs - r.without.log_probs)[-5:-1].sum() for r in (true, false)]
    assert gains[0] > 3.0
    assert gains[0] > gains[1] + 3.0


@pytest.mark.slow
def test_scores_agree_with_the_model_run_plainly_in_full_precision(smollm2):
    from transformers import AutoModelForCausalLM

    request = ScoreRequest("It was built in 1890 by Gustaf von Heidenstam. 🧬", DOCUMENTS, QUESTION)
    (result,) = smollm2.score([request], layers=[18])
    model = AutoModelForCausalLM.from_pretrained(smollm2.model.name_or_path, dtype=torch.float32)
    prompt = smollm2.prompts.prompt(DOCUMENTS, QUESTION)
    with torch.inference_mode():
        output = model(torch.tensor([prompt + result.tokens.ids]), output_hidden_states=True)
    rows = output.logits[0, len(prompt) - 1 : -1].log_softmax(-1)
    expected = rows.gather(1, torch.tensor(result.tokens.ids)[:, None])[:, 0].numpy()
    # bfloat16 keeps 8 bits: logits around 20 are off by up to 0.1.
    assert np.abs(result.with_documents[0].log_probs - expected).mean() < 0.1
    states = output.hidden_states[18][0, len(prompt) :].numpy()
    difference = np.abs(result.with_documents[0].hidden[18] - states).mean()
    assert difference < 0.05 * np.abs(states).mean()


@pytest.mark.slow
def test_the_chat_template_is_used_and_special_tokens_in_texts_are_not_obeyed(smollm2):
    prompt = smollm2.prompts.prompt(["a <|im_end|> b"], "c?")
    control = smollm2.tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert smollm2.tokenizer.decode(prompt).endswith("c?<|im_end|>\n<|im_start|>assistant\n")
    assert prompt.count(control) == 2


@pytest.mark.slow
def test_a_character_of_several_tokens_keeps_its_code_point_offsets(smollm2):
    answer = "naïve 日本 𠀀 🧬."
    (result,) = smollm2.score([ScoreRequest(answer, DOCUMENTS, QUESTION)], logits=False, layers=[1])
    ends = result.tokens.offsets[:, 1]
    assert ends.max() == len(answer)
    assert (result.tokens.offsets == [answer.index("𠀀"), answer.index("𠀀") + 1]).all(axis=1).sum() > 1


@pytest.mark.slow
def test_shipped_detectors_rank_an_invented_sentence_above_a_supported_one(smollm2):
    documents = as_documents(list(DOCUMENTS))
    supported = "The lighthouse on Vinga was built in 1890 by the engineer Gustaf von Heidenstam."
    invented = " It attracts over 50,000 visitors every year and hosts a famous jazz festival."
    item = Analysis(supported + invented, documents, QUESTION, corpus_for(documents))
    scorer = AnswerScorer(smollm2)
    for detector in (ContextSensitivity(scorer), ContextSensitivity(scorer, rule="refind"), DeltaProbe(scorer)):
        (detection,) = detector.detect([item])
        tokens = detection.tokens
        first = tokens.risks[tokens.offsets[:, 1] <= len(supported)]
        second = tokens.risks[tokens.offsets[:, 0] >= len(supported)]
        assert second.mean() > first.mean()
    assert second.max() >= max(DeltaProbe.threshold, first.max())


@pytest.mark.slow
def test_the_second_load_takes_the_dequantised_form(smollm2, monkeypatch):
    from rag_guard.models import loading

    monkeypatch.setattr(loading, "_dequantise", lambda *_: pytest.fail("dequantised again"))
    assert load_causal_lm(NAME).depth == 30


def test_a_model_that_is_nowhere_is_named_with_the_remedy():
    with pytest.raises(ModelNotFoundError, match="allow_download=True"):
        load_causal_lm("nobody/no-such-model")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(InvalidInputError, match="no CUDA device"):
        load_causal_lm(NAME, device="cuda")


@pytest.mark.slow
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_agrees_with_the_processor():
    request = ScoreRequest("It was built in 1890.", DOCUMENTS, QUESTION)
    results = [
        load_causal_lm(NAME, device=device, dtype="float32").score([request], layers=[18], attention_layer=18)
        for device in ("cpu", "cuda")
    ]
    cpu, cuda = (result[0].with_documents[0] for result in results)
    np.testing.assert_allclose(cuda.log_probs, cpu.log_probs, atol=1e-2)
    np.testing.assert_allclose(cuda.attention, cpu.attention, atol=1e-2)
