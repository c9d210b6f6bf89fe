"""A chat that streams sentence by sentence: each is checked before it is shown, and memory keeps what was shown."""

from __future__ import annotations

import argparse

from llama_index.core.chat_engine import ContextChatEngine
from llama_index.postprocessor.rag_guard import HallucinationGuard
from llama_index_station import QUESTIONS, load_index, load_llm, show

from rag_guard import Report


def main(arguments: list[str] | None = None) -> ContextChatEngine:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=2)
    parser.add_argument("--policy", default="repair")
    parser.add_argument("--stream-mode", default="sentence", choices=["buffer", "sentence", "annotate"])
    chosen = parser.parse_args(arguments)

    reports: list[Report] = []
    guard = HallucinationGuard(policy=chosen.policy, stream_mode=chosen.stream_mode, on_report=reports.append)
    chat = ContextChatEngine.from_defaults(
        retriever=load_index().as_retriever(similarity_top_k=2), llm=load_llm(), node_postprocessors=[guard]
    )
    for question in QUESTIONS[: chosen.questions]:
        print(f"\n> {question}")
        for token in chat.stream_chat(question).response_gen:
            print(token, end="", flush=True)
        show("", reports[-1])
    print("\nIn memory:")
    for message in chat.chat_history:
        print(f"  {message.role.value}: {message.content}")
    return chat


if __name__ == "__main__":
    main()
