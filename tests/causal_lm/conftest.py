"""Fixtures for tests of the causal LM."""

from __future__ import annotations

import pytest

from tests.causal_lm.tiny import byte_level_tokenizer, tiny_model


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Models this small only wait for each other on several threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tokenizer():
    return byte_level_tokenizer()


@pytest.fixture
def make_lm(tokenizer):
    """A new LM with the same weights every time."""
    from rag_guard.models.causal_lm import CausalLM

    def make(*, positions: int = 256, cls: str = "Llama", config=None, **options):
        return CausalLM(tiny_model(tokenizer, positions=positions, cls=cls, **(config or {})), tokenizer, **options)

    return make
