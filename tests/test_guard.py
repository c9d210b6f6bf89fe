"""The guard around the detectors: arguments, documents, policies, failures, threads, batches, reports."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest

from rag_guard import (
    DetectorError,
    Document,
    Example,
    GuardTimeoutError,
    HallucinationError,
    HallucinationGuard,
    InvalidInputError,
    MissingContextError,
    RagGuardError,
    Report,
    Status,
    UnsupportedDocumentError,
)
from rag_guard.detectors.base import Detection, TokenRisks
from rag_guard.detectors.entity_alignment import EntityAlignment

DOCUMENT = "The Harbour Tower is 88 m tall."
RIGHT, WRONG = "The Harbour Tower is 88 m tall.", "The Harbour Tower is 98 m tall."


class Spy:
    """A detector that finds nothing and remembers what it was asked."""

    name, version, threshold = "spy", "1", 0.5

    def __init__(self):
        self.batches = []

    def detect(self, analyses):
        self.batches.append([analysis.answer for analysis in analyses])
        return [
            Detection(TokenRisks(np.array([(w.start, w.end) for w in a.words]).reshape(-1, 2), np.zeros(len(a.words))))
            for a in analyses
        ]


class Broken(Spy):
    name = "broken"

    def detect(self, analyses):
        raise ZeroDivisionError("no scale")


class Blocking(Spy):
    """Waits until it is released."""

    name = "blocking"

    def __init__(self):
        super().__init__()
        self.released = threading.Event()

    def detect(self, analyses):
        assert self.released.wait(30)
        return super().detect(analyses)


@dataclass
class LangChainLike:
    page_content: str
    metadata: dict = field(default_factory=dict)
    id: str | None = None


@dataclass
class LlamaIndexLike:
    text: str
    node_id: str = "node"

    def get_content(self):
        return self.text


def rules() -> EntityAlignment:
    return EntityAlignment(embedder=None, classifier="rules")


@pytest.fixture(scope="module")
def guard():
    return HallucinationGuard("fast")


# --- arguments ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ({"preset": "quick"}, ("preset", "'quick'", "balanced")),
        ({"policy": "drop"}, ("policy", "'drop'", "report", "block", "raise")),
        ({"on_error": "ignore"}, ("on_error", "'ignore'", "pass", "warn")),
        ({"on_missing_context": "ignore"}, ("on_missing_context", "'ignore'", "pass")),
        ({"timeout": 0}, ("timeout", "0", "positive")),
        ({"timeout": -2.5}, ("timeout", "-2.5", "positive")),
        ({"timeout": float("nan")}, ("timeout", "nan", "positive")),
        ({"thresholds": 0.0}, ("span", "0.0", "(0, 1]")),
        ({"thresholds": {"span": 1.5}}, ("span", "1.5", "(0, 1]")),
        ({"thresholds": {"token": 0.5}}, ("thresholds", "token", "span")),
        ({"detectors": []}, ("detectors", "empty", "at least one")),
        ({"preset": "fast", "detectors": [Spy()]}, ("preset", "detectors", "one of them")),
    ],
)
def test_a_bad_argument_is_named_with_its_value_and_the_remedy(arguments, parts):
    with pytest.raises(InvalidInputError) as raised:
        HallucinationGuard(**arguments)
    assert all(part in str(raised.value) for part in parts), raised.value


def test_threshold_decides_what_is_flagged(guard):
    risk = guard.check("The tower is tall and has a brass sundial.", DOCUMENT).score
    assert 0 < risk < 1
    higher = HallucinationGuard("fast", thresholds=risk + 1e-6).check(
        "The tower is tall and has a brass sundial.", DOCUMENT
    )
    assert higher.spans == ()
    assert higher.score == risk


# --- documents ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "documents",
    [
        DOCUMENT,
        [DOCUMENT],
        (DOCUMENT,),
        iter([DOCUMENT]),
        Document(text=DOCUMENT),
        [Document(text=DOCUMENT)],
        LangChainLike(DOCUMENT),
        [LangChainLike(DOCUMENT)],
        LlamaIndexLike(DOCUMENT),
        [LlamaIndexLike(DOCUMENT)],
    ],
    ids=lambda value: f"{type(value).__name__}",
)
def test_documents_of_every_accepted_kind_give_the_same_verdict(guard, documents):
    report = guard.check(WRONG, documents)
    assert [(span.text, span.expected) for span in report.spans] == [("98", "88 m")]
    assert [document.text for document in report.documents] == [DOCUMENT]


def test_ids_and_metadata_of_framework_documents_come_back(guard):
    report = guard.check(WRONG, [LangChainLike(DOCUMENT, {"page": 3}, "a-7"), LlamaIndexLike("Owls hunt.", "n-9")])
    assert [(d.id, dict(d.metadata)) for d in report.documents] == [("a-7", {"page": 3}), ("n-9", {})]
    assert report.spans[0].evidence[0].document_id == "a-7"


@pytest.mark.parametrize(
    ("documents", "where", "kind"),
    [
        ([DOCUMENT, 7], "documents[1]", "int"),
        ([None], "documents[0]", "NoneType"),
        ([b"bytes"], "documents[0]", "bytes"),
        ([[DOCUMENT]], "documents[0]", "list"),
        ([LangChainLike(None)], "documents[0]", "LangChainLike"),
        ({"text": DOCUMENT}, "documents is", "dict"),
        (b"bytes", "documents is", "bytes"),
        (3.5, "documents is", "float"),
    ],
)
def test_other_documents_are_type_errors_that_name_the_position(guard, documents, where, kind):
    with pytest.raises(TypeError) as raised:
        guard.check(RIGHT, documents)
    assert isinstance(raised.value, UnsupportedDocumentError)
    assert where in str(raised.value)
    assert kind in str(raised.value)
    assert "page_content" in str(raised.value)


# --- statuses without a verdict ------------------------------------------------------------------------------------


@pytest.mark.parametrize("documents", [None, (), [], "", [" \n"], ["...", ""]])
def test_without_context_there_is_no_verdict(guard, documents):
    report = guard.check(RIGHT, documents)
    assert (report.status, report.score, report.spans) == (Status.NO_CONTEXT, None, ())
    assert not report.status.is_verdict


@pytest.mark.parametrize("answer", ["", " \n\t", "Hello! How can I help you?", "..."])
@pytest.mark.parametrize("documents", [DOCUMENT, ()])
def test_an_answer_without_claims_has_no_verdict(guard, answer, documents):
    report = guard.check(answer, documents)
    assert (report.status, report.score) == (Status.NO_CLAIMS, None)
    assert report.output == answer


def test_missing_context_follows_its_own_policy(caplog):
    block = HallucinationGuard("fast", on_missing_context="block", block_message="No.").check(RIGHT)
    assert (block.status, block.action, block.output) == (Status.NO_CONTEXT, "blocked", "No.")
    with pytest.raises(MissingContextError, match="no document"):
        HallucinationGuard("fast", on_missing_context="raise").check(RIGHT)
    with caplog.at_level("WARNING", "rag_guard"):
        warned = HallucinationGuard("fast", on_missing_context="warn").check(RIGHT)
    assert (warned.output, warned.action) == (RIGHT, "passed")
    assert "no document" in caplog.text


# --- policies -----------------------------------------------------------------------------------------------------


def test_report_policy_lets_the_answer_through_with_its_spans(guard):
    report = guard.check(WRONG, DOCUMENT)
    assert (report.status, report.action, report.output) == (Status.HALLUCINATED, "reported", WRONG)
    assert report.score == max(span.score for span in report.spans)


def test_block_policy_replaces_only_hallucinated_answers():
    guard = HallucinationGuard("fast", policy="block", block_message="Ask at the desk.")
    wrong, right = guard.check(WRONG, DOCUMENT), guard.check(RIGHT, DOCUMENT)
    assert (wrong.action, wrong.output, wrong.answer) == ("blocked", "Ask at the desk.", WRONG)
    assert (right.action, right.output) == ("none", RIGHT)


def test_raise_policy_carries_the_report():
    guard = HallucinationGuard("fast", policy="raise")
    assert guard.check(RIGHT, DOCUMENT).status is Status.SUPPORTED
    with pytest.raises(HallucinationError, match="'98'") as raised:
        guard.check(WRONG, DOCUMENT)
    assert isinstance(raised.value, RagGuardError)
    assert (raised.value.report.action, raised.value.report.spans[0].text) == ("raised", "98")


# --- failures -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "action", "output"), [("pass", "passed", RIGHT), ("warn", "passed", RIGHT), ("block", "blocked", "No.")]
)
def test_a_failed_check_is_an_error_report_and_never_clean(mode, action, output, caplog):
    guard = HallucinationGuard(detectors=[Broken()], on_error=mode, block_message="No.")
    with caplog.at_level("WARNING", "rag_guard"):
        report = guard.check(RIGHT, DOCUMENT, id="x")
    assert (report.status, report.action, report.output, report.id) == (Status.ERROR, action, output, "x")
    assert report.score is None
    assert "no scale" in report.error
    assert "no scale" in caplog.text
    assert ("answer not checked" in caplog.text) is (mode == "warn")


def test_a_failed_check_can_raise_with_its_cause():
    with pytest.raises(DetectorError, match="no scale") as raised:
        HallucinationGuard(detectors=[Broken()], on_error="raise").check(RIGHT, DOCUMENT)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_one_failing_detector_of_two_leaves_a_verdict_with_a_warning():
    report = HallucinationGuard(detectors=[Broken(), rules()], on_error="raise").check(WRONG, DOCUMENT)
    assert [span.text for span in report.spans] == ["98"]
    assert {run.name: run.status for run in report.detectors} == {"broken": "failed", "entity_alignment": "ok"}
    assert any("broken" in warning and "no scale" in warning for warning in report.warnings)


def test_past_the_timeout_the_answer_has_an_error_and_no_verdict():
    detector = Blocking()
    try:
        report = HallucinationGuard(detectors=[detector], timeout=0.05).check(RIGHT, DOCUMENT)
        assert (report.status, report.output) == (Status.ERROR, RIGHT)
        assert "0.05 s" in report.error
        with pytest.raises(RagGuardError) as raised:
            HallucinationGuard(detectors=[detector], timeout=0.05, on_error="raise").check(RIGHT, DOCUMENT)
        assert isinstance(raised.value.__cause__ or raised.value, GuardTimeoutError)
    finally:
        detector.released.set()


def test_within_the_timeout_nothing_changes(guard):
    timed = HallucinationGuard("fast", timeout=60).check(WRONG, DOCUMENT)
    plain = guard.check(WRONG, DOCUMENT)
    assert timed.model_copy(update={"timings_ms": {}}) == plain.model_copy(update={"timings_ms": {}})


# --- async and threads --------------------------------------------------------------------------------------------


async def test_acheck_leaves_the_event_loop_free():
    detector = Blocking()
    guard = HallucinationGuard(detectors=[detector])
    check = asyncio.create_task(guard.acheck(RIGHT, DOCUMENT, id="7"))
    beats = 0
    while beats < 20:
        await asyncio.sleep(0.001)
        beats += 1
    assert not check.done()
    detector.released.set()
    report = await asyncio.wait_for(check, 30)
    assert (report.status, report.id) == (Status.SUPPORTED, "7")


async def test_acheck_batch_gives_what_check_batch_gives(guard):
    examples = [Example(answer=WRONG, documents=DOCUMENT, id="a"), Example(answer=RIGHT, documents=DOCUMENT, id="b")]
    reports = await guard.acheck_batch(examples)
    assert [(r.id, r.status, r.spans) for r in reports] == [
        (r.id, r.status, r.spans) for r in guard.check_batch(examples)
    ]


def test_concurrent_checks_never_mix_their_documents(guard):
    def work(thread: int) -> list[tuple]:
        found = []
        for call in range(50):
            value = 1000 + thread * 50 + call
            documents = [f"Gauge {thread} of the mill shows {value} bar."]
            report = guard.check(f"Gauge {thread} of the mill shows {value + 5000} bar.", documents, id=str(value))
            found.append(
                (
                    report.id == str(value),
                    [document.text for document in report.documents] == documents,
                    [span.expected for span in report.spans] == [f"{value} bar"],
                    [item.quote for span in report.spans for item in span.evidence] == [f"{value} bar"],
                )
            )
        return found

    with ThreadPoolExecutor(16) as pool:
        results = [item for found in pool.map(work, range(16)) for item in found]
    assert len(results) == 800
    assert all(all(item) for item in results)


# --- batches ------------------------------------------------------------------------------------------------------


def test_a_batch_keeps_its_order_and_costs_one_detection():
    spy = Spy()
    answers = [f"Gauge {n} shows {n} bar." for n in range(12)]
    reports = HallucinationGuard(detectors=[spy]).check_batch(
        [Example(answer=a, documents=a, id=str(n)) for n, a in enumerate(answers)]
    )
    assert [(report.answer, report.id) for report in reports] == [(a, str(n)) for n, a in enumerate(answers)]
    assert spy.batches == [answers]


def test_answers_that_need_no_detector_are_not_sent_to_one():
    spy = Spy()
    reports = HallucinationGuard(detectors=[spy]).check_batch(
        [
            Example(answer="", documents=DOCUMENT),
            Example(answer=RIGHT, documents=DOCUMENT),
            Example(answer=RIGHT, documents=[]),
        ]
    )
    assert spy.batches == [[RIGHT]]
    assert [r.status for r in reports] == [Status.NO_CLAIMS, Status.SUPPORTED, Status.NO_CONTEXT]


def test_an_empty_batch_gives_no_reports(guard):
    assert guard.check_batch([]) == []


def test_what_is_no_example_is_named_by_its_position(guard):
    with pytest.raises(InvalidInputError, match=r"examples\[1\] is str.*Example"):
        guard.check_batch([Example(answer=RIGHT, documents=DOCUMENT), RIGHT])


def test_one_answer_that_raises_costs_the_others_nothing():
    guard = HallucinationGuard("fast", policy="raise")
    examples = [Example(answer=a, documents=DOCUMENT) for a in (RIGHT, WRONG, RIGHT)]
    first, second, third = guard.try_check_batch(examples)
    assert isinstance(first, Report)
    assert isinstance(second, HallucinationError)
    assert isinstance(third, Report)
    with pytest.raises(HallucinationError):
        guard.check_batch(examples)


def test_odd_strings_in_a_batch_leave_the_other_answers_alone(guard):
    odd = ["\ud800", "\x00\x01", "🙂" * 50, "‮مرحبا", "| a |\n|--|", "1" * 400]
    examples = [Example(answer=a, documents=[DOCUMENT, a]) for a in odd]
    examples.insert(3, Example(answer=WRONG, documents=DOCUMENT))
    reports = guard.check_batch(examples)
    assert all(report.status is not Status.ERROR for report in reports)
    assert [span.text for span in reports[3].spans] == ["98"]


# --- the report ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [WRONG, RIGHT, "", "The tower [1] is 98 m tall [7]."])
def test_a_report_survives_json(guard, answer):
    report = guard.check(answer, [Document(text=DOCUMENT, id="d", metadata={"page": 2})], "How tall is it?", id="q1")
    again = Report.model_validate_json(report.model_dump_json())
    assert again == report
    assert again.evidence == report.evidence


def test_a_report_tells_what_ran_and_how_long(guard):
    report = guard.check(WRONG, DOCUMENT, "How tall?", id="q2")
    assert (report.id, report.question, report.thresholds) == ("q2", "How tall?", {"span": 0.5})
    (run,) = report.detectors
    assert (run.name, run.status, run.score) == ("entity_alignment", "ok", report.score)
    assert {"preflight", "entity_alignment", "decode", "total"} <= set(report.timings_ms)
    assert all(value >= 0 for value in report.timings_ms.values())


def test_a_blank_question_is_no_question(guard):
    blank, none = guard.check("1903", DOCUMENT, " "), guard.check("1903", DOCUMENT)
    assert blank.spans == none.spans
    assert blank.question == " "


def test_checks_are_repeatable(guard):
    def bare(report: Report) -> Report:
        return report.model_copy(update={"timings_ms": {}})

    first = bare(guard.check(WRONG, DOCUMENT))
    assert bare(guard.check(WRONG, DOCUMENT)) == first
    assert bare(HallucinationGuard("fast").check(WRONG, DOCUMENT)) == first
