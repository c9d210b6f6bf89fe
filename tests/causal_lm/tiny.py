"""Tiny causal LMs with random weights and tokenizers trained on a paragraph: real components, no download."""

from __future__ import annotations

TEXT = [
    "The Eiffel Tower was finished in 1889 and stands in Paris, France.",
    "Café naïve résumé 日本語 🧬 Ωmega.",
    "who where when what why how is are was were the of and to in for on with",
] * 4


def byte_level_tokenizer():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["<s>", "</s>", "<|user|>", "<|bot|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(TEXT[:1], trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>", eos_token="</s>")
    tokenizer.chat_template = (
        "<s>{% for m in messages %}<|user|>{{ m['content'] }}</s>{% endfor %}"
        "{% if add_generation_prompt %}<|bot|>{% endif %}"
    )
    return tokenizer


def sentencepiece_tokenizer():
    """Word marks for spaces, one added in front, and bytes for what the vocabulary lacks: Llama's kind."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    seed = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    seed.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    seed.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")])
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=special, show_progress=False)
    seed.train_from_iterator([TEXT[0], TEXT[2]], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=seed, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def tiny_model(tokenizer, *, positions: int = 256, seed: int = 0, cls: str = "Llama", **extra):
    import torch
    import transformers

    torch.manual_seed(seed)
    config = getattr(transformers, f"{cls}Config")(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=positions,
        initializer_range=0.3,
        **extra,
    )
    return getattr(transformers, f"{cls}ForCausalLM")(config).float()
