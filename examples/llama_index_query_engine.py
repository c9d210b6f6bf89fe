"""A query engine that repairs its own answers: the guard is one of its node postprocessors."""

from __future__ import annotations

import argparse

from llama_index.postprocessor.rag_guard import HallucinationGuard
from llama_index_station import QUESTIONS, load_index, load_llm, show

from rag_guard import Report


def main(arguments: list[str] | None = None) -> list[Report]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=len(QUESTIONS))
    parser.add_argument("--policy", default="repair")
    chosen = parser.parse_args(arguments)

    reports: list[Report] = []
    guard = HallucinationGuard(policy=chosen.policy, on_report=reports.append)
    engine = load_index().as_query_engine(llm=load_llm(), similarity_top_k=3, node_postprocessors=[guard])
    for question in QUESTIONS[: chosen.questions]:
        response = engine.query(question)
        assert str(response) == reports[-1].output
        show(question, reports[-1])
    return reports


if __name__ == "__main__":
    main()
