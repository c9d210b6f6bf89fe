"""What each strategy makes of a flagged answer, through the public API, and what no repair may do."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_guard import HallucinationGuard, InvalidInputError, Status
from rag_guard.models.linguistic import load_parser
from rag_guard.repair import NOTHING_LEFT, Repair, apply_edits
from rag_guard.schema import Edit

CASES_FILE = Path(os.environ.get("RAG_GUARD_SHARED", Path(__file__).parents[3] / "shared")) / "cases" / "cases.jsonl"
FLAGGED = (
    [
        case
        for case in map(json.loads, CASES_FILE.read_text(encoding="utf-8").splitlines())
        if case["expect"]["status"] == "hallucinated"
    ]
    if CASES_FILE.is_file()
    else []
)
STRATEGIES = ("remove", "extract", "rewrite")

SENTENCE_GOES = {"antonym", "span-at-zero", "name-typo-flag"}
"""Cases whose subject, verb or name is wrong: without it there is no sentence, so removal takes what is right in it."""

needs_parser = pytest.mark.skipif(load_parser("en") is None, reason="no parser is installed")


def parrot(prompt: str) -> str:
    """A rewriting model that says the first quote of its evidence."""
    evidence = prompt.split("<evidence>")[-1].split("</evidence>")[0]
    return json.loads(evidence)[0]


@pytest.fixture(scope="module")
def guards():
    made = {name: HallucinationGuard("fast", policy="repair", repair=name) for name in ("remove", "extract")}
    made["rewrite"] = HallucinationGuard("fast", policy="repair", repair=Repair("rewrite", rewriter=parrot))
    return made


def repaired(answer, documents, repair="extract", question=None, **options):
    guard = HallucinationGuard("fast", policy="repair", repair=repair, **options)
    report = guard.check(answer, documents, question)
    assert_sound(report)
    return report


def assert_sound(report):
    """Edits are disjoint, in order, inside the answer, and make the repaired answer."""
    assert all(a.end <= b.start for a, b in itertools.pairwise(report.edits))
    assert apply_edits(report.answer, report.edits) == (report.answer if report.repaired is None else report.repaired)
    if report.repaired is not None:
        assert report.repaired.strip()
        assert report.output == report.repaired
        assert report.action == "repaired"
        assert report.status is Status.HALLUCINATED
        for edit in report.edits:
            assert edit.reason
            for item in edit.evidence:
                assert report.documents[item.document].text[item.start : item.end] == item.quote


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("case", FLAGGED, ids=[case["id"] for case in FLAGGED])
def test_repaired_case_is_clean_and_keeps_what_was_right(case, strategy, guards):
    report = guards[strategy].check(case["answer"], case["documents"], case["question"] or None)
    assert_sound(report)
    assert report.repaired is not None
    assert report.recheck is not None
    assert report.recheck.status is not Status.HALLUCINATED
    again = HallucinationGuard("fast").check(report.repaired, case["documents"], case["question"] or None)
    assert not again.spans, (report.repaired, [span.text for span in again.spans])
    if not (strategy == "remove" and case["id"] in SENTENCE_GOES):
        for part in case["expect"]["not_flagged"]:
            assert part in report.repaired, (part, report.repaired)
    if report.recheck.status is Status.NO_CLAIMS:
        assert report.repaired == NOTHING_LEFT


@pytest.mark.parametrize(
    ("answer", "document", "expected"),
    [
        ("It has 69 million people.", "The country has 67,000,000 people.", "It has 67 million people."),
        ("The shop opens at 7:15 pm.", "The shop opens at 19:45.", "The shop opens at 7:45 pm."),
        ("The shop opens at 19:15.", "The shop opens at 7:45 pm.", "The shop opens at 19:45."),
        ("The lake is **888** m deep.", "The lake is 41 m deep.", "The lake is **41** m deep."),
        ("The contract was signed on 2021-03-15.", "The contract was signed on 14 March 2021.",
         "The contract was signed on 2021-03-14."),
        ("The contract was signed on March 15, 2021.", "The contract was signed on 14 March 2021.",
         "The contract was signed on March 14, 2021."),
        ("The town has 12,000 residents.", "The town has 7500 residents.", "The town has 7,500 residents."),
        ("Fever led to withdrawal from the study.", "Fever did not lead to withdrawal from the study.",
         "Fever did not lead to withdrawal from the study."),
    ],
)  # fmt: skip
def test_a_value_is_replaced_in_the_notation_of_the_answer(answer, document, expected):
    assert repaired(answer, [document]).repaired == expected


def test_an_answer_of_one_value_becomes_the_right_value():
    report = repaired(
        "1976", ["The first module was launched in 1967."], question="When was the first module launched?"
    )
    assert report.repaired == "1967"


@needs_parser
@pytest.mark.parametrize(
    ("answer", "document", "expected"),
    [
        ("The fee is 5 EUR (waived on Mondays) and includes tax.", "The fee is 5 EUR and includes tax.",
         "The fee is 5 EUR and includes tax."),
        ("The hotel has a pool and a rooftop helipad.", "The hotel has a pool.", "The hotel has a pool."),
        ("The hotel has a rooftop helipad and a pool.", "The hotel has a pool.", "The hotel has a pool."),
        ("The hotel has a pool, a sauna and a **rooftop helipad**.", "The hotel has a pool and a sauna.",
         "The hotel has a pool and a sauna."),
        ("The hotel has a pool, a rooftop helipad, and a sauna.", "The hotel has a pool and a sauna.",
         "The hotel has a pool and a sauna."),
        ("Blue Door, a haunted castle, opens at 10.", "Blue Door opens at 10.", "Blue Door opens at 10."),
    ],
)  # fmt: skip
def test_removal_takes_the_smallest_part(answer, document, expected):
    assert repaired(answer, [document], "remove").repaired == expected


DOCUMENT = "The fee is 5 EUR. Children enter free. The gate opens at 9."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1. The fee is 5 EUR.\n2. Dragons guard the vault.\n3. Children enter free.\n4. The gate opens at 9.",
         "1. The fee is 5 EUR.\n2. Children enter free.\n3. The gate opens at 9."),
        ("# Fees\n\nThe fee is 5 EUR.\n\n# Beasts\n\nDragons guard the vault.\n\n# Gate\n\nThe gate opens at 9.\n",
         "# Fees\n\nThe fee is 5 EUR.\n\n# Gate\n\nThe gate opens at 9.\n"),
        ("The fee is 5 EUR.\n\nBeasts:\n- Dragons guard the vault.\n- Wyverns patrol the moat.\n\nThe gate opens at 9.",
         "The fee is 5 EUR.\n\nThe gate opens at 9."),
        ("The fee is 5 EUR. [1] Dragons guard the vault. [2] The gate opens at 9. [1]",
         "The fee is 5 EUR. [1] The gate opens at 9. [1]"),
        ("The fee is 5 EUR [1]. Dragons guard the vault [2]. The gate opens at 9 [1].",
         "The fee is 5 EUR [1]. The gate opens at 9 [1]."),
        ("The fee is 5 EUR. **Dragons guard the vault.** The gate opens at 9.",
         "The fee is 5 EUR. The gate opens at 9."),
        ("The gate opens at 9.\n\n```python\nsummon(dragon, vault)\n```\n\nThe fee is 5 EUR.",
         "The gate opens at 9.\n\nThe fee is 5 EUR."),
    ],
    ids=["numbered list", "heading", "lead-in", "citation behind", "citation inside", "emphasis", "fence"],
)  # fmt: skip
def test_removal_leaves_no_debris(answer, expected):
    assert repaired(answer, [DOCUMENT], "remove").repaired == expected


TABLE = (
    "| city | population | founded |\n|---|---|---|\n| Arden | 12,000 | 1640 |\n| Belmo | 48,000 | 1702 |\n\n"
    "Use `run()` and see the list at https://example.org/a_b."
)


@pytest.mark.parametrize("strategy", ["remove", "extract"])
def test_text_around_a_wrong_cell_stays_as_it_is(strategy):
    answer = (
        "Use `run()` and see [the list](https://example.org/a_b).\n\n| city  | population | founded |\n|:--|--:|---|\n"
        "| Arden |  12,000 | 1640 |\n| Belmo | 99,000 | 1702 |\n\n"
    )
    report = repaired(answer, [TABLE], strategy)
    start = answer.index("99,000")
    assert report.repaired is not None
    assert report.repaired.startswith(answer[:start])
    assert report.repaired.endswith(answer[start + len("99,000") :])
    assert (report.repaired[start : start + 6] == "48,000") == (strategy == "extract")


def test_a_wrong_link_goes_and_its_words_stay():
    report = repaired("The fee is 5 EUR. [Children](https://example.org/a) enter free.", [DOCUMENT])
    assert report.repaired == "The fee is 5 EUR. Children enter free."


def test_a_table_without_rows_goes_with_its_header():
    answer = "The fee is 5 EUR.\n\n| beast | lair |\n|---|---|\n| Dragon | vault |\n\nThe gate opens at 9."
    report = repaired(answer, [DOCUMENT], "remove")
    assert report.repaired == "The fee is 5 EUR.\n\nThe gate opens at 9."


def test_when_nothing_is_left_the_message_stands_there():
    report = repaired("Dragons guard the vault.", [DOCUMENT], Repair("remove", message="Ask the desk."))
    assert report.repaired == "Ask the desk."
    assert report.recheck is not None
    assert report.recheck.status is Status.NO_CLAIMS


def test_a_supported_answer_is_not_touched():
    report = repaired("The fee is 5 EUR.", [DOCUMENT])
    assert (report.repaired, report.edits, report.recheck, report.action) == (None, (), None, "none")
    assert report.output == report.answer


def test_a_threshold_leaves_weaker_spans_alone():
    answer = "The fee is 5 EUR. Dragons guard the vault."
    assert repaired(answer, [DOCUMENT], Repair("remove", threshold=1.0)).repaired in (None, "The fee is 5 EUR.")
    assert repaired(answer, [DOCUMENT], Repair("remove", threshold=0.0)).repaired == "The fee is 5 EUR."


def test_a_worse_answer_is_never_handed_on():
    original = HallucinationGuard("fast").check("The fee is 6 EUR.", [DOCUMENT])

    def distrustful(examples):
        reports = HallucinationGuard("fast").check_batch(examples)
        spans = (original.spans[0].model_copy(update={"start": 0, "end": 9}),)
        return [r.model_copy(update={"status": Status.HALLUCINATED, "spans": spans, "score": 1.0}) for r in reports]

    (report,) = Repair("extract", max_rounds=1)([original], distrustful)
    assert report.repaired is None
    assert report.edits == ()
    assert any("unchanged" in warning for warning in report.warnings)


def test_a_repair_that_fails_costs_no_verdict(monkeypatch):
    monkeypatch.setattr("rag_guard.repair.repairer.Outline", None)
    report = HallucinationGuard("fast", policy="repair").check("The fee is 6 EUR.", [DOCUMENT])
    assert report.status is Status.HALLUCINATED
    assert report.action == "reported"
    assert any("repair failed" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Repair("delete"),
        lambda: Repair(message=" "),
        lambda: Repair(max_rounds=0),
        lambda: Repair(threshold=2.0),
        lambda: Repair("rewrite", rewriter=3),
        lambda: HallucinationGuard("fast", repair="remove"),
    ],
)
def test_bad_settings_are_refused(make):
    with pytest.raises(InvalidInputError):
        make()


def test_overlapping_edits_are_refused():
    with pytest.raises(InvalidInputError):
        apply_edits("abcdef", [Edit(start=0, end=3, replacement=""), Edit(start=2, end=4, replacement="x")])


def test_reports_of_a_batch_are_those_of_single_checks(guards):
    answers = ["The fee is 6 EUR.", "Dragons guard the vault.", "The fee is 5 EUR.", "The gate opens at 8."]
    from rag_guard import Example

    batch = guards["extract"].check_batch([Example(answer=a, documents=[DOCUMENT]) for a in answers])
    for answer, report in zip(answers, batch, strict=True):
        assert report.repaired == guards["extract"].check(answer, [DOCUMENT]).repaired


FRAGMENTS = [
    "The fee is 6 EUR",
    "dragons, wyverns and 900 knights",
    "東京は99億",
    "🎉",
    "[a](b)",
    "[1]",
    "(",
    ")",
    ". ",
]
FRAGMENTS += ["**", "_", "`", "```\n", "\n", "\n\n", "- ", "1. ", "# ", "| ", " |", ", ", " and ", "\ud800", "\u0301"]
MARKDOWN = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)


@settings(max_examples=60, deadline=None)
@given(answer=st.one_of(MARKDOWN, st.text(max_size=60)), strategy=st.sampled_from(["remove", "extract"]))
def test_no_text_breaks_a_repair(answer, strategy):
    guard = HallucinationGuard("fast", policy="repair", repair=strategy)
    report = guard.check(answer, ["The fee is 5 EUR. 東京は1400万。"])
    assert report.status is not Status.ERROR
    assert not any("repair failed" in warning for warning in report.warnings), report.warnings
    assert_sound(report)
