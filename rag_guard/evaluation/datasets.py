"""Readers of labelled answers: RAGTruth, Mu-SHROOM, RAGBench and any user's JSON lines.

Each reader is a generator, so that a large file never sits in memory whole. A row that cannot be used stops
the reading with an error that names the file, the line and the field.

References: RAGTruth (Niu et al., ACL 2024, arXiv 2401.00396); Mu-SHROOM (Vázquez et al., SemEval-2025 task 3,
arXiv 2504.11975); RAGBench (Friel et al., arXiv 2407.11005).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rag_guard.errors import InvalidInputError
from rag_guard.evaluation.rows import LabelledExample, LabelSpan, Record, read_records
from rag_guard.schema import Document

__all__ = [
    "LabelSpan",
    "LabelledExample",
    "in_holdout",
    "load_dataset",
    "read_jsonl",
    "read_mushroom",
    "read_ragbench",
    "read_ragtruth",
    "train_holdout",
]

HOLDOUT_FRACTION = 0.1
HOLDOUT_SEED = 0

_PASSAGE = re.compile(r"(?:^|\n\n)passage \d+:")
_ROW_SUFFIXES = (".jsonl.gz", ".jsonl", ".parquet")


def load_dataset(name: str, data: str | Path | None = None, split: str | None = "test") -> Iterator[LabelledExample]:
    """Rows of ``ragtruth``, ``mushroom`` or ``ragbench`` under the folder ``data``, or of the JSON-lines file
    ``name``.

    ``split`` is the data set's own, or one of two parts of its ``train`` split: ``holdout`` (a tenth of the
    source groups, for thresholds and model choice) and ``fit`` (the rest). Rows of a user's file that name no
    split belong to every split; None takes all rows.

    Raises:
        InvalidInputError: for an unknown name, a missing folder, a split without files, or a row that cannot
        be used.
    """
    readers = {"ragtruth": read_ragtruth, "mushroom": read_mushroom, "ragbench": read_ragbench}
    part = "train" if split in ("fit", "holdout") else split
    if name in readers:
        if data is None:
            raise InvalidInputError(f"data is missing: name the folder that holds the files of {name}")
        rows = readers[name](data, part)
    elif Path(name).is_file():
        rows = (row for row in read_jsonl(name) if row.split is None or part in (None, row.split))
    else:
        raise InvalidInputError(
            f"dataset is {name!r}, which is neither ragtruth, mushroom or ragbench nor an existing file"
        )
    if split in ("fit", "holdout"):
        wanted = split == "holdout"
        return (row for row in rows if in_holdout(row.group, HOLDOUT_FRACTION, HOLDOUT_SEED) == wanted)
    return rows


def in_holdout(group: str, fraction: float = HOLDOUT_FRACTION, seed: int = HOLDOUT_SEED) -> bool:
    """Whether a source group is held out: decided by a hash of it alone, whatever other rows there are."""
    digest = hashlib.sha256(f"{seed}:{group}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") < fraction * 2**64


def train_holdout(
    rows: Iterable[LabelledExample], fraction: float = HOLDOUT_FRACTION, seed: int = HOLDOUT_SEED
) -> tuple[list[LabelledExample], list[LabelledExample]]:
    """Split ``rows`` in (train, holdout) by source group; about ``fraction`` of the groups are held out.

    Raises:
        InvalidInputError: ``fraction`` is not strictly between 0 and 1.
    """
    if not 0.0 < fraction < 1.0:
        raise InvalidInputError(f"fraction is {fraction}; pass a number between 0 and 1, both excluded")
    parts: tuple[list[LabelledExample], list[LabelledExample]] = ([], [])
    for row in rows:
        parts[in_holdout(row.group, fraction, seed)].append(row)
    return parts


def read_ragtruth(data: str | Path, split: str | None = None) -> Iterator[LabelledExample]:
    """RAGTruth from its official ``response.jsonl`` + ``source_info.jsonl``, or from ``ragtruth_*.jsonl.gz``
    files.

    The passages of QA become one document each; Summary and Data2txt have one document, the latter a Python
    repr, as the models saw it. An instruction is no question, so only QA has one. Spans that are
    ``implicit_true`` count as hallucinated and every ``quality`` is kept, as published results do.
    """
    folder = _folder(data)
    if (folder / "response.jsonl").is_file():
        return _read_ragtruth_official(folder, split)
    files = _files(folder, ("ragtruth_*",), "response.jsonl or ragtruth_*.jsonl.gz", split)
    return (row for path in files for row in _read_ragtruth_joined(path) if split in (None, row.split))


def read_mushroom(data: str | Path, split: str | None = None) -> Iterator[LabelledExample]:
    """Mu-SHROOM from ``<language>_<split>.jsonl.gz`` or ``mushroom.<language>-<split>.v1.jsonl`` files.

    The task is the language. Documents are a row's ``passages``; rows without any are kept, they have no
    context.
    """
    folder = _folder(data)
    names = {"test": "test|tst", None: "test|tst|val"}.get(split, re.escape(split or ""))
    pattern = re.compile(rf"(?:mushroom\.)?[a-z]{{2}}[-_](?:{names})\b.*")
    files = [path for path in sorted(folder.iterdir()) if pattern.fullmatch(path.name) and _has_rows(path)]
    if not files:
        raise InvalidInputError(f"data is {str(folder)!r}, which has no file such as en_{split}.jsonl.gz")
    return (_mushroom_row(record) for path in files for record in read_records(path))


def read_ragbench(data: str | Path, split: str | None = None) -> Iterator[LabelledExample]:
    """RAGBench from ``ragbench_<subset>_<split>.jsonl.gz`` files or the official
    ``<subset>/<split>-*.parquet``.

    The task is the subset. Labels are silver: a language model gave them, by the sentence. Parquet needs
    ``pyarrow``.
    """
    folder = _folder(data)
    patterns = ("ragbench_*", "*.parquet", "*/*.parquet")
    files = _files(folder, patterns, "ragbench_*.jsonl.gz or *.parquet", split)
    return (row for path in files for row in _read_ragbench_file(path) if split in (None, row.split))


def read_jsonl(path: str | Path) -> Iterator[LabelledExample]:
    """A user's own JSON lines (gzipped or not): ``{"answer": ..., "documents": [...], ...}`` per line.

    ``documents`` is a string, or a list of strings or of objects with ``text`` and optionally ``id`` and
    ``metadata``. Optional: ``question``, ``id``, ``task``, ``group``, ``model``, ``split``, ``language``,
    ``labels`` (a list of ``{"start", "end"}`` with optional ``text`` and ``type``; an empty list says that
    the answer is clean) and ``hallucinated`` (a boolean, for answers labelled as a whole).
    """
    for record in read_records(Path(path)):
        answer = record.text("answer")
        labels = record.labels("labels", answer) if record.get("labels") is not None else None
        stated = record.get("hallucinated")
        if stated is not None and not isinstance(stated, bool):
            raise record.error("hallucinated", f"is {stated!r}; write true or false")
        if stated is False and labels:
            raise record.error("hallucinated", "is false although labels has spans")
        identifier = record.name("id", str(record.line))
        yield LabelledExample(
            id=identifier,
            answer=answer,
            documents=record.documents(),
            question=record.optional_text("question"),
            labels=() if labels is None and stated is False else labels,
            hallucinated=bool(labels) if stated is None and labels is not None else stated,
            labels_complete=bool(labels) or not stated,
            group=record.name("group", identifier),
            task=record.optional_text("task"),
            model=record.optional_text("model"),
            split=record.optional_text("split"),
            language=record.optional_text("language"),
        )


def _read_ragtruth_joined(path: Path) -> Iterator[LabelledExample]:
    for record in read_records(path):
        task, answer = record.text("task_type"), record.text("output")
        documents = _ragtruth_documents(record.text("context"), task)
        group = record.name("source_group", str(record.line))
        yield _ragtruth_row(record, task, answer, documents, record.optional_text("query"), group)


def _read_ragtruth_official(folder: Path, split: str | None) -> Iterator[LabelledExample]:
    sources = {str(record.get("source_id")): record for record in read_records(folder / "source_info.jsonl")}
    for record in read_records(folder / "response.jsonl"):
        if split not in (None, record.get("split")):
            continue
        group = record.name("source_id", "")
        source = sources.get(group)
        if source is None:
            raise record.error("source_id", f"is {group!r}, which source_info.jsonl does not have")
        task, info, question = source.text("task_type"), source.get("source_info"), None
        if task == "QA":
            if not isinstance(info, Mapping) or not isinstance(info.get("passages"), str):
                raise source.error("source_info", "has no passages")
            question, info = info.get("question"), info["passages"]
        # The file holds the records of Data2txt as JSON, the prompts held their Python repr.
        context = info if isinstance(info, str) else repr(info)
        documents = _ragtruth_documents(context, task)
        yield _ragtruth_row(record, task, record.text("response"), documents, question, group)


def _ragtruth_documents(context: str, task: str) -> tuple[Document, ...]:
    if task != "QA":
        return (Document(text=context),)
    passages = _PASSAGE.split(context) if _PASSAGE.match(context) else context.split("\n\n")
    return tuple(Document(text=passage.strip("\n")) for passage in passages if passage.strip())


def _ragtruth_row(
    record: Record, task: str, answer: str, documents: tuple[Document, ...], question: str | None, group: str
) -> LabelledExample:
    labels = record.labels("labels", answer)
    return LabelledExample(
        id=record.name("id", str(record.line)),
        answer=answer,
        documents=documents,
        question=question if task == "QA" else None,
        labels=labels,
        hallucinated=bool(labels),
        group=group,
        task=task,
        model=record.optional_text("model"),
        split=record.text("split"),
        language="en",
    )


def _mushroom_row(record: Record) -> LabelledExample:
    answer, question = record.text("model_output_text"), record.text("model_input")
    labels = tuple(
        LabelSpan(*record.range("hard_labels", start, end, answer)) for start, end in record.get("hard_labels", ())
    )
    soft_labels = tuple(
        (*record.range("soft_labels", item["start"], item["end"], answer), float(item["prob"]))
        for item in record.get("soft_labels", ())
    )
    language = record.text("lang").lower()
    return LabelledExample(
        id=record.text("id"),
        answer=answer,
        documents=record.documents("passages") if record.get("passages") is not None else (),
        question=question,
        labels=labels,
        hallucinated=bool(labels),
        group=f"{language}:{question}",
        soft_labels=soft_labels,
        task=language,
        model=record.optional_text("model_id"),
        split="val" if "val" in record.path.name else "test",
        language=language,
    )


def _read_ragbench_file(path: Path) -> Iterator[LabelledExample]:
    seen: dict[str, int] = {}
    for record in read_records(path):
        adherent = record.get("adherence_score")
        if adherent is None:
            continue
        answer = record.text("response")
        subset, split = _ragbench_origin(record)
        identifier = record.name("id", str(record.line))
        # Two models' answers to one question share an id upstream.
        repeat = seen[identifier] = seen.get(identifier, 0) + 1
        labels, complete = ((), True) if adherent else _ragbench_spans(record, answer)
        yield LabelledExample(
            id=f"{subset}-{split}-{identifier}" + (f"-{repeat}" if repeat > 1 else ""),
            answer=answer,
            documents=record.documents(),
            question=record.optional_text("question"),
            labels=labels,
            hallucinated=not adherent,
            group=f"{subset}:{identifier}",
            labels_complete=complete,
            task=subset,
            model=record.get("generation_model", record.get("generation_model_name")),
            split=split,
            language="en",
        )


def _ragbench_origin(record: Record) -> tuple[str, str]:
    if record.get("dataset_name") is None:
        return record.text("subset"), record.text("split")
    subset, _, split = record.text("dataset_name").rpartition("_")
    return subset, split


def _ragbench_spans(record: Record, answer: str) -> tuple[tuple[LabelSpan, ...], bool]:
    """The sentences called unsupported, and whether all of them were found in the answer."""
    keys = record.get("unsupported_keys", record.get("unsupported_response_sentence_keys", ()))
    # A few keys carry the full point of the sentence they name.
    missing = {key.rstrip(".") for key in keys}
    spans, position = [], 0
    for sentence in record.get("response_sentences", ()):
        if isinstance(sentence, Mapping):
            key, start, end = sentence["key"], sentence.get("start"), sentence.get("end")
        else:
            key, text = sentence[:2]
            found = answer.find(text, position)
            start, end = (found, found + len(text)) if found >= 0 else (None, None)
        if start is None or end is None:
            continue
        position = end
        if key.rstrip(".") in missing and start < end:
            spans.append(LabelSpan(*record.range(f"response_sentences {key!r}", start, end, answer)))
            missing.discard(key.rstrip("."))
    return tuple(spans), bool(spans) and not missing


def _folder(data: str | Path) -> Path:
    folder = Path(data)
    if not folder.is_dir():
        raise InvalidInputError(f"data is {str(data)!r}, which is no folder")
    return folder


def _has_rows(path: Path) -> bool:
    return path.name.endswith(_ROW_SUFFIXES)


def _files(folder: Path, patterns: Sequence[str], expected: str, split: str | None) -> list[Path]:
    found = sorted({path for pattern in patterns for path in folder.glob(pattern) if _has_rows(path)})
    if not found:
        raise InvalidInputError(f"data is {str(folder)!r}, which has no {expected}")
    # A word boundary counts "_" as a letter, so both sides are spelled out.
    part = re.compile(rf"(?:^|[_-]){re.escape(split or '')}(?:[_.-])")
    files = [path for path in found if split is None or part.search(path.name)]
    if not files:
        raise InvalidInputError(f"split is {split!r}; {folder} has {', '.join(path.name for path in found)}")
    return files
