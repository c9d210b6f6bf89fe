"""A workflow of your own, with the check as one of its steps and a second attempt if it fails."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step
from llama_index.postprocessor.rag_guard import node_documents
from llama_index_station import QUESTIONS, load_index, load_llm, show

from rag_guard import HallucinationGuard, Report


class Retrieved(Event):
    question: str
    nodes: list[Any]
    correction: str = ""


class Draft(Event):
    retrieved: Retrieved
    text: str


class CheckedAnswer(Workflow):
    def __init__(self, policy: str, attempts: int = 2, **options: Any) -> None:
        super().__init__(**options)
        self.guard = HallucinationGuard(policy=policy)
        self.attempts = attempts

    @step
    async def retrieve(self, ev: StartEvent) -> Retrieved:
        nodes = await load_index().as_retriever(similarity_top_k=2).aretrieve(ev.question)
        return Retrieved(question=ev.question, nodes=nodes)

    @step
    async def answer(self, ev: Retrieved) -> Draft:
        texts = "\n\n".join(document.text for document in node_documents(ev.nodes))
        prompt = f"{texts}\n\n{ev.correction}Answer in two sentences: {ev.question}"
        reply = await asyncio.to_thread(load_llm().complete, prompt)
        return Draft(retrieved=ev, text=reply.text)

    @step
    async def check(self, ctx: Context, ev: Draft) -> Retrieved | StopEvent:
        asked = ev.retrieved
        report = await self.guard.acheck(ev.text, node_documents(asked.nodes), asked.question)
        attempt = await ctx.store.get("attempt", default=1)
        if report.spans and attempt < self.attempts:
            await ctx.store.set("attempt", attempt + 1)
            wrong = ", ".join(span.text for span in report.spans)
            return Retrieved(question=asked.question, nodes=asked.nodes, correction=f"This was wrong: {wrong}. ")
        return StopEvent(result=report)


async def ask(question: str, policy: str) -> Report:
    result: Report = await CheckedAnswer(policy, timeout=300).run(question=question)
    return result


def main(arguments: list[str] | None = None) -> Report:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--question", default=QUESTIONS[1])
    parser.add_argument("--policy", default="repair")
    chosen = parser.parse_args(arguments)
    report = asyncio.run(ask(chosen.question, chosen.policy))
    show(chosen.question, report)
    return report


if __name__ == "__main__":
    main()
