"""Speed of scoring with the causal LM: against one forward per token, and against the machine's matrix peak.

    python benchmarks/causal_lm_speed.py [--model NAME] [--threads N] [--tokens N]

Prints one JSON object. The loop it compares with scores each answer token by a forward of its own over everything
before it, with and without the documents, as reference implementations of REFIND do.
"""

from __future__ import annotations

import argparse
import json
import time

import torch

from rag_guard.models.causal_lm import CausalLM, ScoreRequest
from rag_guard.models.loading import DEFAULT_CAUSAL_LM, load_causal_lm

FACTS = "The lighthouse on island number {n} was built in 18{n} by its keeper and stands {n} metres tall. "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=DEFAULT_CAUSAL_LM)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--tokens", type=int, default=150, help="length of the answer")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    model = load_causal_lm(arguments.model, prefix_cache_bytes=0)
    request = request_of(model, arguments.tokens)
    model.score([request])
    packed = best_of(3, lambda: model.score([request]))
    loop = best_of(1, lambda: one_forward_per_token(model, request))
    peak = matrix_peak(model)
    figures = {"threads": arguments.threads, "dtype": str(model.model.dtype).removeprefix("torch.")}
    figures |= {"loop_s": loop, "packed_s": packed, "times_faster": loop / packed, "gemm_gflops": peak / 1e9}
    for name, options in {"logits": {}, "layer_18": {"logits": False, "layers": [18]}}.items():
        batch = [request_of(model, arguments.tokens, first) for first in range(10, 34, 4)]
        before = (model.counters.rows, model.counters.logit_rows)
        seconds = best_of(2, lambda batch=batch, options=options: model.score(batch, **options))
        rows, logit_rows = ((a - b) / 2 for a, b in zip(counts(model), before, strict=True))
        work = rows * block_operations(model) * (min(18, model.depth) if options else model.depth)
        work += logit_rows * 2 * model.model.get_output_embeddings().weight.numel()
        figures[f"{name}_rows_per_s"] = rows / seconds
        figures[f"{name}_share_of_peak"] = work / seconds / peak
    print(json.dumps({name: round(v, 3) if isinstance(v, float) else v for name, v in figures.items()}, indent=1))


def counts(model: CausalLM) -> tuple[int, int]:
    return model.counters.rows, model.counters.logit_rows


def request_of(model: CausalLM, tokens: int, first: int = 10) -> ScoreRequest:
    facts = [FACTS.format(n=n) for n in range(first, first + 12)]
    answer = "".join(FACTS.format(n=n) for n in range(first + 5, first + 45))
    ends = model.prompts.tokenize(answer).offsets[:, 1]
    return ScoreRequest(answer[: int(ends[tokens - 1])], facts, "What is known about the lighthouses?")


@torch.inference_mode()
def one_forward_per_token(model: CausalLM, request: ScoreRequest) -> list[float]:
    from transformers import AutoModelForCausalLM

    plain = AutoModelForCausalLM.from_pretrained(model.model.name_or_path, dtype=model.model.dtype)
    tokens = model.prompts.tokenize(request.answer).ids
    results = []
    for documents in (request.documents, ()):
        ids = model.prompts.prompt(documents, request.question)
        for token in tokens:
            logits = plain(torch.tensor([ids])).logits[0, -1]
            results.append(float(logits.float().log_softmax(-1)[token]))
            ids = [*ids, token]
    return results


def block_operations(model: CausalLM) -> float:
    """Multiply-adds of one block's matrices for one row, times two."""
    block = next(m for m in model.model.modules() if isinstance(m, torch.nn.ModuleList))[0]
    return 2.0 * sum(p.numel() for p in block.parameters() if p.dim() == 2)


@torch.inference_mode()
def matrix_peak(model: CausalLM) -> float:
    """Operations per second of the widest product in a block, at 2,048 rows."""
    width, inner = model.width, model.model.config.get_text_config().intermediate_size
    states = torch.randn(2048, width, dtype=model.model.dtype, device=model.device)
    weights = torch.randn(inner, width, dtype=model.model.dtype, device=model.device)
    multiply = lambda: torch.nn.functional.linear(states, weights)  # noqa: E731 - timed thrice below
    multiply()
    return 2.0 * 2048 * width * inner / best_of(20, multiply)


def best_of(times: int, run) -> float:  # type: ignore[no-untyped-def]
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - began)
    return best


if __name__ == "__main__":
    main()
