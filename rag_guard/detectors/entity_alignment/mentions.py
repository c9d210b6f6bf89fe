"""Step 1 of EAEV: the factual commitments of an answer, as ENT, NUM and NP mentions with exact offsets.

NUM mentions are the quantities. ENT mentions are runs of name words. Every other content word is an NP mention of its
own, so that one wrong word in a long phrase is not averaged away; neighbours with the same fate are reported together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_guard.detectors.entity_alignment.word_classes import WordClass
from rag_guard.schema import MentionType
from rag_guard.text.analysis import Analysis
from rag_guard.text.quantities import Quantity
from rag_guard.text.words import Word, is_unspaced


@dataclass(frozen=True)
class AnswerMention:
    """One mention of the answer.

    Attributes:
        claim: index of its claim.
        words: indices into ``analysis.words``.
        quantity: for NUM.
        antecedent: stems of the entity that the pronoun opening its sentence stands for.
    """

    claim: int
    type: MentionType
    start: int
    end: int
    words: tuple[int, ...]
    word_class: WordClass
    quantity: Quantity | None = None
    antecedent: tuple[str, ...] = ()


def extract_mentions(analysis: Analysis, classes: Sequence[WordClass]) -> list[AnswerMention]:
    """All mentions of an answer in text order.

    ``classes`` has one class per word of the answer.
    """
    mentions: list[AnswerMention] = []
    antecedent: tuple[str, ...] = ()
    words = analysis.words
    for index, indices in enumerate(analysis.claim_ranges):
        own = _of_claim(analysis, classes, index, indices)
        opens_with_pronoun = any(classes[i] is WordClass.PRONOUN for i in indices[:3])
        if opens_with_pronoun and antecedent:
            own = [replace(mention, antecedent=antecedent) for mention in own]
        names = [mention for mention in own if mention.type == "ENT"]
        if names and not opens_with_pronoun:
            antecedent = tuple(words[i].stem for i in names[0].words)
        mentions.extend(own)
    return mentions


def _of_claim(analysis: Analysis, classes: Sequence[WordClass], claim: int, indices: range) -> list[AnswerMention]:
    words = analysis.words
    mentions: list[AnswerMention] = []
    quantities = analysis.claim_quantities[claim]
    inside: set[int] = set()
    for quantity in quantities:
        covered = tuple(i for i in indices if quantity.start < words[i].end and words[i].start < quantity.end)
        if covered:
            inside.update(covered)
            inside.update(_modifier_words(quantity, words, covered[0]))
            mentions.append(
                AnswerMention(claim, "NUM", quantity.start, quantity.end, covered, WordClass.NUMBER, quantity)
            )
    run: list[int] = []

    def close() -> None:
        if run:
            kind: MentionType = "ENT" if classes[run[0]] is WordClass.NAME else "NP"
            mentions.append(
                AnswerMention(claim, kind, words[run[0]].start, words[run[-1]].end, tuple(run), classes[run[0]])
            )
            run.clear()

    for i in indices:
        if i in inside or classes[i] in (WordClass.FUNCTION, WordClass.PRONOUN, WordClass.NEGATION):
            close()
            continue
        joins = run and (
            (classes[i] is WordClass.NAME and classes[run[-1]] is WordClass.NAME and _adjacent(analysis, run[-1], i))
            or (
                is_unspaced(words[i].text[0])
                and is_unspaced(words[run[-1]].text[0])
                and words[run[-1]].end == words[i].start
            )
        )
        if not joins:
            close()
        run.append(i)
    close()
    mentions.sort(key=lambda mention: mention.start)
    return mentions


def _modifier_words(quantity: Quantity, words: Sequence[Word], near: int) -> list[int]:
    """Words of an approximation beside a quantity ("almost 5,000"): the comparison of quantities judges them."""
    start, end = quantity.modifier_start, quantity.modifier_end
    if start is None or end is None:
        return []
    nearby = range(max(near - 6, 0), min(near + 8, len(words)))
    return [i for i in nearby if words[i].start < end and start < words[i].end]


def _adjacent(analysis: Analysis, left: int, right: int) -> bool:
    """Whether only white space, a hyphen or an initial's full point lies between two words."""
    gap = analysis.answer[analysis.words[left].end : analysis.words[right].start]
    return right == left + 1 and "\n" not in gap and gap.strip() in ("", "-", "‐", "‑", ".", "&", "'", "’", "/")
