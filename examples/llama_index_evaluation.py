"""Rate a query engine over a list of questions, and look at its answers in one HTML page."""

from __future__ import annotations

import argparse
from pathlib import Path

from llama_index.core.evaluation import EvaluationResult
from llama_index.postprocessor.rag_guard import GuardEvaluator
from llama_index_station import OUTPUT, QUESTIONS, load_index, load_llm

from rag_guard import Report


def main(arguments: list[str] | None = None) -> list[EvaluationResult]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=len(QUESTIONS))
    parser.add_argument("--output", type=Path, default=OUTPUT / "llama_index_evaluation.html")
    chosen = parser.parse_args(arguments)

    reports: list[Report] = []
    evaluator = GuardEvaluator(on_report=reports.append)
    engine = load_index().as_query_engine(llm=load_llm(), similarity_top_k=3)
    results = []
    for question in QUESTIONS[: chosen.questions]:
        result = evaluator.evaluate_response(question, engine.query(question))
        verdict = result.invalid_reason if result.invalid_result else "passed" if result.passing else "failed"
        print(f"{verdict:8} {question}")
        results.append(result)
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_text(Report.to_html_page(reports), encoding="utf-8")
    print(f"{sum(bool(result.passing) for result in results)} of {len(results)} passed. Report: {chosen.output}")
    return results


if __name__ == "__main__":
    main()
