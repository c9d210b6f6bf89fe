"""A real retrieval chain with a small local language model, and the guard on it.

Forty-two short texts about a weather station, BM25 retrieval, SmolLM2-135M-Instruct, ten questions. The model is tiny
and makes things up by itself; nothing here is scripted. Greedy decoding keeps its answers the same from run to run.
"""

from __future__ import annotations

import argparse
import os
import time
from operator import itemgetter
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("TQDM_DISABLE", "1")

import bm25s
import Stemmer
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_huggingface import ChatHuggingFace, HuggingFacePipeline
from rich.console import Console
from rich.text import Text

from langchain_rag_guard import HallucinationGuard
from rag_guard import Report
from rag_guard.models import catalog

MODEL = "smollm2-135m-instruct"
DATA = Path(__file__).parent / "quickstart_data"
OUTPUT = Path(__file__).parent / "output" / "quickstart.html"

QUESTIONS = (
    "How long do lithium cells last in the mast?",
    "How much does an extra mast cost, and what is its delivery time?",
    "What is the wireless range of the mast?",
    "How many days of readings does the display store?",
    "What does version 3.4.0 add?",
    "How long is the warranty?",
    "What is the accuracy of the temperature sensor?",
    "What is the price of the weather station, and the price of the solar panel?",
    "When does the station warn of a storm?",
    "Which phones does the app support, and what does it cost?",
)

PROMPT = ChatPromptTemplate.from_messages(
    [
        ("system", "You answer questions about a product from the given texts, in one to three sentences."),
        ("human", "{texts}\n\nQuestion: {question}"),
    ]
)


def load_documents(folder: Path) -> list[Document]:
    """One document per section of a Markdown file; a file without sections, or of another kind, is one document."""
    documents = []
    for file in sorted(folder.iterdir()):
        text = file.read_text(encoding="utf-8")
        title, *sections = text.split("\n## ") if file.suffix == ".md" else [text]
        for number, section in enumerate(sections or [title]):
            identifier = f"{file.stem}-{number + 1}" if sections else file.stem
            documents.append(Document(section.strip(), id=identifier, metadata={"source": file.name}))
    return documents


class BM25Retriever(BaseRetriever):
    """The ``k`` texts that match a question best, by BM25 over word stems."""

    documents: list[Document]
    k: int = 3
    index: Any = None
    stemmer: Any = None

    def model_post_init(self, context: Any) -> None:
        self.stemmer = Stemmer.Stemmer("english")
        self.index = bm25s.BM25()
        self.index.index(self._words([document.page_content for document in self.documents]), show_progress=False)

    def _words(self, texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=self.stemmer, show_progress=False)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        words = self._words([query])
        found, _ = self.index.retrieve(words, corpus=self.documents, k=self.k, show_progress=False)
        return list(found[0])


def load_model(max_new_tokens: int) -> ChatHuggingFace:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, pipeline
    from transformers.utils import logging

    # One token of so small a model is too little work to share: threads would mostly wait for each other.
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    folder = catalog.path(MODEL)
    file = next(folder.glob("*.gguf")).name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file)
    greedy = GenerationConfig(
        max_new_tokens=max_new_tokens,
        do_sample=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.eos_token_id,
    )
    generate = pipeline(
        "text-generation",
        model=model,
        tokenizer=tokenizer,
        generation_config=greedy,
        return_full_text=False,
    )
    return ChatHuggingFace(llm=HuggingFacePipeline(pipeline=generate), tokenizer=tokenizer)


def build_chain(documents: list[Document], model: Runnable[Any, Any], guard: HallucinationGuard) -> Runnable[Any, Any]:
    retriever = BM25Retriever(documents=documents)

    def joined(state: dict[str, Any]) -> str:
        return "\n\n".join(document.page_content for document in state["context"])

    answer = RunnablePassthrough.assign(texts=joined) | PROMPT | model | StrOutputParser()
    return RunnablePassthrough.assign(context=itemgetter("question") | retriever).assign(answer=answer) | guard


def surrounding(text: str, start: int, end: int, reach: int = 60) -> str:
    """A quote of ``text`` with about ``reach`` characters before and after it, on one line and in whole words."""
    left = text.rfind(" ", 0, max(start - reach, 0)) + 1
    right = text.find(" ", end + reach)
    return " ".join(text[left : right if right >= 0 else len(text)].split())


def show(console: Console, report: Report) -> None:
    answer = Text(report.answer)
    for span in report.spans:
        answer.stylize("bold red" if span.label == "contradicted" else "bold yellow", span.start, span.end)
    console.print(answer)
    score = "" if report.score is None else f", risk {report.score:.2f}"
    console.print(f"[{report.status.value}{score}]", style="dim", markup=False)
    for span in report.spans:
        line = f"  {span.label}: {span.text!r}"
        if span.expected:
            line += f", the documents say {span.expected!r}"
        console.print(line, style="red" if span.label == "contradicted" else "yellow", markup=False)
        for evidence in span.evidence[:1]:
            passage = surrounding(report.documents[evidence.document].text, evidence.start, evidence.end)
            console.print(f"    {evidence.document_id}: {passage}", style="dim", markup=False)
    console.print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=len(QUESTIONS), help="how many of the questions to ask")
    parser.add_argument("--max-new-tokens", type=int, default=64)
    parser.add_argument("--output", type=Path, default=OUTPUT, help="where the HTML report goes")
    arguments = parser.parse_args()
    console = Console()
    started = time.perf_counter()

    documents = load_documents(DATA)
    console.print(f"{len(documents)} documents. Loading {MODEL} ...", style="dim")
    reports: list[Report] = []
    model = load_model(arguments.max_new_tokens)
    chain = build_chain(documents, model, HallucinationGuard(on_error="raise", on_report=reports.append))
    console.print(f"Ready after {time.perf_counter() - started:.0f} s.\n", style="dim")

    questions = QUESTIONS[: arguments.questions]
    for number, question in enumerate(questions, start=1):
        console.print(f"{number}/{len(questions)} {question}", style="bold", markup=False)
        with console.status("reading and answering ..."):
            chain.invoke({"question": question})
        show(console, reports[-1])

    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(Report.to_html_page(reports), encoding="utf-8")
    flagged = sum(bool(report.spans) for report in reports)
    seconds = time.perf_counter() - started
    console.print(f"{flagged} of {len(reports)} answers have unsupported parts; {seconds:.0f} s in all.")
    console.print(f"Report: {arguments.output}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
