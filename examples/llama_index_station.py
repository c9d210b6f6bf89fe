"""What the LlamaIndex examples share: texts about a weather station, local embeddings, a small local language model.

SmolLM2-135M-Instruct makes things up by itself; nothing is scripted. Both models come from ``rag-guard models pull``.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import TextNode
from llama_index.llms.huggingface import HuggingFaceLLM

from rag_guard import Report
from rag_guard.models.embedder import load_embedder

MODEL = "smollm2-135m-instruct"
DATA = Path(__file__).parent / "quickstart_data"
OUTPUT = Path(__file__).parent / "output"

QUESTIONS = (
    "How much does an extra mast cost, and what is its delivery time?",
    "What is the wireless range of the mast?",
    "How long is the warranty?",
    "How many days of readings does the display store?",
)


class MiniLM(BaseEmbedding):
    """The sentence embeddings that the guard uses too."""

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return [[float(number) for number in vector] for vector in load_embedder().embed(texts)]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


@cache
def load_index() -> VectorStoreIndex:
    """One node per section of the texts; the model is shown which file it comes from."""
    nodes = []
    for file in sorted(DATA.iterdir()):
        text = file.read_text(encoding="utf-8")
        title, *sections = text.split("\n## ") if file.suffix == ".md" else [text]
        for number, section in enumerate(sections or [title]):
            name = f"{file.stem}-{number + 1}" if sections else file.stem
            nodes.append(TextNode(text=section.strip(), id_=name, metadata={"file": file.name}))
    return VectorStoreIndex(nodes, embed_model=MiniLM())


@cache
def load_llm(max_new_tokens: int = 60) -> HuggingFaceLLM:
    """SmolLM2 as LlamaIndex runs it, with greedy decoding."""
    import torch
    from transformers.utils import logging

    from rag_guard.models.loading import load_weights

    # One token of so small a model is too little work to share: threads would mostly wait for each other.
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    device, model, tokenizer = load_weights(MODEL, dtype="float32")
    settings: dict[str, Any] = {"do_sample": False, "pad_token_id": tokenizer.eos_token_id}
    return HuggingFaceLLM(
        model=model.to(device),
        tokenizer=tokenizer,
        model_name=MODEL,
        context_window=2048,
        max_new_tokens=max_new_tokens,
        generate_kwargs=settings,
        is_chat_model=True,
    )


def show(question: str, report: Report) -> None:
    """A report on the terminal: what was said, what of it the texts do not support, and what the caller gets."""
    print(f"\n{question}\n  said:   {report.answer.strip()}\n  status: {report.status.value}")
    for span in report.spans:
        instead = f", the texts say {span.expected!r}" if span.expected else ""
        source = f" ({span.evidence[0].document_id})" if span.evidence else ""
        print(f"    {span.label}: {span.text!r}{instead}{source}")
    if report.output != report.answer:
        print(f"  given:  {report.output.strip()}")
