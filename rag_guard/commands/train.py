"""``rag-guard train``: learn what the detectors ship with, on data of your own or on the benchmarks' train
splits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_guard.errors import InvalidInputError

if TYPE_CHECKING:
    from rag_guard.evaluation.rows import LabelledExample
    from rag_guard.training.features import FeatureSpec

app = typer.Typer(help="Train detectors on labelled answers.", no_args_is_help=True, add_completion=False)

_Dataset = Annotated[str, typer.Argument(help="ragtruth, ragbench, or a JSON-lines file of your own with labels.")]
_Data = Annotated[Path | None, typer.Option(help="The folder with the data set's files.")]
_Features = Annotated[
    Path, typer.Option(help="Folder for the extracted features; what is there is not extracted again.")
]
_Output = Annotated[Path, typer.Option(help="The file to write.")]
_Model = Annotated[
    str,
    typer.Option(help="Causal LM: a name from the catalog, a folder, a GGUF file, or a Hugging Face name."),
]
_Task = Annotated[list[str] | None, typer.Option(help="Only this task; may be repeated.")]
_Limit = Annotated[int | None, typer.Option(min=1, help="Only this many source groups.")]
_Seed = Annotated[int, typer.Option(help="Seed of everything random.")]


@app.callback()
def _root() -> None:
    """Train detectors on labelled answers."""


@app.command("delta-probe")
def delta_probe(
    dataset: _Dataset,
    features: _Features,
    output: _Output,
    data: _Data = None,
    model: _Model = "smollm2-135m-instruct",
    inputs: Annotated[
        str, typer.Option(help="Inputs, comma separated: delta_, residual_, with_ or without_ and a layer.")
    ] = "delta_18,residual_18,with_18",
    head: Annotated[str, typer.Option(help="mlp, or convolution over the answer's tokens.")] = "mlp",
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training tokens.")] = 10,
    dropout: Annotated[float, typer.Option(min=0.0, max=0.9, help="Dropout rate.")] = 0.1,
    weight_decay: Annotated[float, typer.Option(min=0.0, help="Weight decay of AdamW.")] = 1e-4,
    task: _Task = None,
    limit: _Limit = None,
    seed: _Seed = 0,
) -> None:
    """Train the delta probe (CORTEX) for any causal LM; prints what it reaches on held-out source groups.

    Features are extracted group by group: a run that was stopped goes on where it was.
    """
    from rag_guard.detectors.probe import ProbeConfig
    from rag_guard.training.delta_probe import evaluate_probe, fit_decoding, load_probe_data, train_probe
    from rag_guard.training.features import FeatureSpec

    names = tuple(name.strip() for name in inputs.split(",") if name.strip())
    config = ProbeConfig(model, names, width=1)
    views = {name for name in names if name.startswith("with")}
    residuals = () if config.residual_layer is None else (config.residual_layer,)
    spec = FeatureSpec(
        model=model,
        deltas=config.layers,
        views=tuple(sorted({int(name.rpartition("_")[2]) for name in views})),
        residuals=residuals,
    )
    fit, holdout = _rows(dataset, data, task, limit)
    _extract([*holdout, *fit], features, spec)
    held = load_probe_data(holdout, features, names)
    learnt = load_probe_data(fit, features, names)
    config = ProbeConfig(
        model,
        names,
        width=learnt.states.shape[1] // len(names),
        head=head,  # type: ignore[arg-type] # checked by ProbeConfig
        dropout=dropout,
    )
    probe = train_probe(
        learnt,
        config,
        epochs=epochs,
        weight_decay=weight_decay,
        seed=seed,
        progress=lambda epoch, loss, seconds: typer.echo(
            f"epoch {epoch}/{epochs}: loss {loss:.4f}, {seconds:.0f} s", err=True
        ),
    )
    probe, _ = fit_decoding(probe, held)
    note = f"trained on {dataset} ({len(learnt.rows)} answers, {len(learnt.labels)} tokens), seed {seed}"
    probe.save(output, note)
    typer.echo(json.dumps({"holdout": evaluate_probe(probe, held), "note": note}, indent=1))


@app.command("context-sensitivity")
def context_sensitivity(
    dataset: _Dataset,
    features: _Features,
    output: _Output,
    data: _Data = None,
    model: _Model = "smollm2-135m-instruct",
    task: _Task = None,
    limit: _Limit = None,
    seed: _Seed = 0,
) -> None:
    """Calibrate context sensitivity (REFIND's signals) for any causal LM; writes one JSON file.

    Features are extracted group by group: a run that was stopped goes on where it was.
    """
    from rag_guard.training.context_sensitivity import fit_calibration
    from rag_guard.training.features import FeatureSpec

    fit, holdout = _rows(dataset, data, task, limit)
    _extract([*holdout, *fit], features, FeatureSpec(model, deltas=(), residuals=(), scores=True))
    calibration = fit_calibration(fit, holdout, features, seed=seed)
    output.write_text(calibration.to_json() + "\n", encoding="utf-8")
    typer.echo(json.dumps({"threshold": calibration.threshold, "stay": calibration.stay}))


def _rows(
    dataset: str, data: Path | None, tasks: list[str] | None, limit: int | None
) -> tuple[list[LabelledExample], list[LabelledExample]]:
    """Rows to fit on and held-out rows, apart by source group; ``limit`` takes groups in order, a tenth
    held out.
    """
    from rag_guard.evaluation.datasets import load_dataset

    parts = []
    for split, share in (("fit", 0.9), ("holdout", 0.1)):
        rows = [row for row in load_dataset(dataset, data, split) if row.labels is not None]
        rows = [row for row in rows if not tasks or row.task in tasks]
        if limit is not None:
            groups = list(dict.fromkeys(row.group for row in rows))
            kept = set(groups[: max(1, round(limit * share))])
            rows = [row for row in rows if row.group in kept]
        if not any(row.hallucinated for row in rows):
            raise InvalidInputError(
                f"the {split} part of {dataset} has no hallucinated answer; it takes more labelled groups"
            )
        parts.append(rows)
    return parts[0], parts[1]


def _extract(rows: list[LabelledExample], folder: Path, spec: FeatureSpec) -> None:
    from rag_guard.models.loading import load_causal_lm
    from rag_guard.training.features import extract_features, missing_groups

    if not missing_groups(rows, folder, spec):
        return
    causal_lm = load_causal_lm(spec.model, prefix_cache_bytes=0)
    extract_features(
        rows,
        causal_lm,
        folder,
        spec,
        progress=lambda done, total, rate: typer.echo(
            f"features of {done}/{total} groups, {rate:.0f} answer tokens/s", err=True
        ),
    )
