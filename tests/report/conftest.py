"""Reports for the tests of both renderers: one with everything in it, one per status, and hostile ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag_guard.schema import (
    Citation,
    Claim,
    DetectorRun,
    Document,
    Edit,
    Entity,
    Evidence,
    Mention,
    Report,
    Span,
    Status,
)

LAKE = (
    "Lake Arno is a mountain lake in the north of the Sella range. It was formed by a glacier and is fed by "
    "two streams.\n\nThe lake is 41 m deep and covers 3.2 km². Swimming is allowed from June to September; "
    "the water rarely gets warmer than 17 °C."
)
FERRY = (
    "# Timetable\r\n\r\n- The ferry to Holm leaves at 07:40 every weekday.\r\n- Tickets cost 6 € (children 3 €).\r\n"
)
CLUB = "The rowing club was founded by Rina Okafor in 1998. It has 120 members."
ANSWER = (
    "Lake Arno is **88 m** deep [1] and was formed by a glacier [1].\r\n\r\n"
    "- The ferry to Holm leaves at 08:15 on weekdays [3].\r\n"
    "- Rina Okafor founded the rowing club, and it won two national titles [7]."
)


def quote(documents: tuple[Document, ...], number: int, text: str, relevance: float = 0.9) -> Evidence:
    """The evidence for the first place of ``text`` in ``documents[number]``."""
    start = documents[number].text.index(text)
    return Evidence(
        document=number,
        document_id=documents[number].id,
        start=start,
        end=start + len(text),
        quote=text,
        relevance=relevance,
        source=documents[number].source,
    )


@pytest.fixture
def full_report() -> Report:
    """A hallucinated answer with spans of both labels, citations, entities, a repair and warnings."""
    documents = (
        Document(text=LAKE, id="lakes/arno.md", metadata={"title": "Lakes of the Sella", "page": 12}),
        Document(text=FERRY, id="ferry.md"),
        Document(text=CLUB),
        Document(text="Parking is free on Sundays. " * 40, id="parking.txt", source="user"),
    )
    depth = quote(documents, 0, "The lake is 41 m deep and covers 3.2 km².")
    glacier = quote(documents, 0, "It was formed by a glacier and is fed by two streams.")
    ferry = quote(documents, 1, "The ferry to Holm leaves at 07:40 every weekday.")
    club = quote(documents, 2, "The rowing club was founded by Rina Okafor in 1998.")
    members = quote(documents, 2, "It has 120 members.", 0.3)

    def at(text: str) -> dict[str, int | str]:
        start = ANSWER.index(text)
        return {"start": start, "end": start + len(text), "text": text}

    def mention(text: str, kind: str, risk: float, evidence: Evidence, conflict: str | None = None) -> Mention:
        bad = conflict is not None
        return Mention(
            **at(text),
            type=kind,
            risk=risk,
            identity=0.2 if bad else 1.0,
            semantic=0.81,
            consistency=0.0 if bad else 1.0,
            s_pos=0.31 if bad else 0.95,
            s_neg=1.0 if bad else 0.0,
            crs_min=0.28 if bad else 0.9,
            crs_delta=0.03 if bad else 0.05,
            deciding_perturbation="leave_out_best_window" if bad else "compress_whitespace",
            conflict=conflict,
            signal="consistency" if bad else "identity",
            evidence=evidence,
        )

    return Report(
        id="row-17",
        status=Status.HALLUCINATED,
        score=0.972,
        question="How deep is Lake Arno, and when does the ferry leave?",
        answer=ANSWER,
        output=ANSWER,
        documents=documents,
        language="en",
        spans=(
            Span(
                **at("88 m"),
                score=0.972,
                label="contradicted",
                evidence=(depth,),
                expected="41 m",
                explanation="The documents give another depth for the same lake.",
                claim=0,
                votes={"entity_alignment": 0.972, "token_classifier": 0.883},
            ),
            Span(
                **at("08:15"),
                score=0.914,
                label="contradicted",
                evidence=(ferry,),
                expected="07:40",
                explanation="The documents give another time for the ferry to Holm.",
                claim=2,
                votes={"entity_alignment": 0.914},
            ),
            Span(
                **at("won two national titles"),
                score=0.731,
                label="unsupported",
                evidence=(members,),
                explanation="No document speaks of titles.",
                claim=4,
                votes={"entity_alignment": 0.731},
            ),
        ),
        claims=(
            Claim(**at("Lake Arno is **88 m** deep"), verdict="contradicted", score=0.972, evidence=(depth,)),
            Claim(**at("was formed by a glacier"), verdict="supported", score=0.06, evidence=(glacier,)),
            Claim(**at("The ferry to Holm leaves at 08:15 on weekdays"), verdict="contradicted", score=0.914),
            Claim(**at("Rina Okafor founded the rowing club"), verdict="supported", score=0.04, evidence=(club,)),
            Claim(**at("it won two national titles"), verdict="unsupported", score=0.731),
        ),
        citations=(
            Citation(**at("[1]"), cited=(1,), status="not_checked", claim=0),
            Citation(
                start=ANSWER.rindex("[1]"),
                end=ANSWER.rindex("[1]") + 3,
                text="[1]",
                cited=(1,),
                status="supported_by_cited",
                claim=1,
            ),
            Citation(**at("[3]"), cited=(3,), status="misattributed", suggested=(2,), claim=2),
            Citation(**at("[7]"), cited=(7,), status="out_of_range", claim=4),
        ),
        entities=(
            Entity(
                canonical="lake arno",
                type="ENT",
                mentions=(mention("Lake Arno", "ENT", 0.05, glacier),),
                es_pos=0.95,
                es_neg=0.0,
                ecrs_min=0.9,
                escm=0.95,
                risk=0.05,
            ),
            Entity(
                canonical="88 m",
                type="NUM",
                mentions=(mention("88 m", "NUM", 0.97, depth, "value"),),
                es_pos=0.31,
                es_neg=1.0,
                ecrs_min=0.28,
                escm=-0.69,
                risk=0.97,
            ),
        ),
        action="repaired",
        repaired=ANSWER.replace("88 m", "41 m")
        .replace("08:15", "07:40")
        .replace(", and it won two national titles [7]", ""),
        edits=(
            Edit(**_edit("88 m", "41 m", "Value taken from document 1.")),
            Edit(**_edit("08:15", "07:40", "Value taken from document 2.")),
            Edit(**_edit(", and it won two national titles [7]", "", "No document says this.")),
        ),
        detectors=(
            DetectorRun(name="entity_alignment", version="1", status="ok", threshold=0.5, score=0.972),
            DetectorRun(
                name="token_classifier",
                version="1",
                status="failed",
                threshold=0.5,
                error="model file is damaged",
            ),
        ),
        thresholds={"entity_alignment": 0.5, "span": 0.5},
        timings_ms={"preflight": 0.2, "analysis": 3.4, "detectors": 18.25, "decoding": 0.7, "total": 22.9},
        warnings=(
            "No linguistic model for Finnish: names are found by their capitals alone.",
            "detector token_classifier failed: model file is damaged",
        ),
    )


def _edit(old: str, new: str, reason: str) -> dict[str, int | str]:
    start = ANSWER.index(old)
    return {"start": start, "end": start + len(old), "replacement": new, "reason": reason}


def _report_with(status: Status) -> Report:
    """The plainest report of a status."""
    answer = "The lake is 41 m deep."
    return Report(
        status=status,
        score=0.08 if status is Status.SUPPORTED else 0.9 if status is Status.HALLUCINATED else None,
        question="How deep is the lake?",
        answer=answer,
        output=answer,
        documents=() if status is Status.NO_CONTEXT else (Document(text="The lake is 41 m deep."),),
        error="the embedding model could not be read" if status is Status.ERROR else None,
    )


def _report_on(answer: str, document: str, spans: list[tuple[int, int]], evidence: list[tuple[int, int]]) -> Report:
    """A report with the given ranges as spans, each with all the given ranges as evidence."""
    quotes = tuple(Evidence(document=0, start=s, end=e, quote=document[s:e]) for s, e in evidence)
    return Report(
        status=Status.HALLUCINATED,
        score=0.9,
        answer=answer,
        output=answer,
        documents=(Document(text=document),),
        spans=tuple(
            Span(
                start=s,
                end=e,
                text=answer[s:e],
                score=0.9,
                label="contradicted" if n % 2 == 0 else "unsupported",
                evidence=quotes,
            )
            for n, (s, e) in enumerate(spans)
        ),
    )


@pytest.fixture
def report_with() -> Callable[[Status], Report]:
    """``report_with(status)``: the plainest report of a status."""
    return _report_with


@pytest.fixture
def report_on() -> Callable[..., Report]:
    """``report_on(answer, document, spans, evidence)``: every range is a span, with all evidence ranges."""
    return _report_on
