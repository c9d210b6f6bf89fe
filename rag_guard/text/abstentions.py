"""Abstentions: claims that say the documents, or the speaker, do not know.

The detector is compositional: a negation (or an inability) governs a verb of knowing or a noun for the
thing to know, and the subject is the source, the speaker, or nobody. "The text does not mention who
built it." abstains; "The company did not provide refunds." does not, since its subject is neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import regex

from rag_guard.text.claims import ClaimRange
from rag_guard.text.cues import Function, Token, read_tokens
from rag_guard.text.filler import is_filler
from rag_guard.text.lexicons.cues import Lexicon, candidates

AbstentionKind = Literal["not_in_documents", "unknown", "refusal"]


class Abstention(NamedTuple):
    """A claim that abstains: the documents do not say, the speaker does not know, or refuses to help."""

    start: int
    end: int
    kind: AbstentionKind


_NEGATIVE = int(Function.NEGATION | Function.INABILITY)
_KNOWN = int(Function.KNOWLEDGE | Function.INFORMATION)
_CLEAN = int(
    Function.GLUE
    | Function.SOURCE
    | Function.FRAMING
    | Function.INFORMATION
    | Function.SPEAKER
    | Function.COURTESY
    | Function.LEAD_IN
    | Function.NEGATION
    | Function.INABILITY
    | Function.UNKNOWING
    | Function.CONJUNCTION
)
# Plain integers: operations on enum members cost more than all the rest.
_UNKNOWING = int(Function.UNKNOWING)
_OWN_KNOWLEDGE = int(Function.OWN_KNOWLEDGE)
_ASSISTANCE = int(Function.ASSISTANCE)
_KNOWLEDGE = int(Function.KNOWLEDGE)
_INFORMATION = int(Function.INFORMATION)
_SOURCE = int(Function.SOURCE)
_SPEAKER = int(Function.SPEAKER)
_ADDRESSEE = int(Function.ADDRESSEE)
_INABILITY = int(Function.INABILITY)
_COMPLEMENTIZER = int(Function.COMPLEMENTIZER)
_SAYING = int(Function.SAYING)
_GLUE = int(Function.GLUE)
_FRAMING = int(Function.FRAMING)

_COMMA = regex.compile(r"[,،，、]\s*")
_ASIDE = regex.compile(r"[(（][^()（）]*[)）]")
_SHORTEST_STATEMENT = 4
# How far a negation reaches to what it negates, in words, and how much content may stand between.
_REACH = 6
_CONTENT_BETWEEN = 2
# How far behind the verb its source may follow ("not mentioned anywhere in the text").
_SOURCE_REACH = 8
_SUBJECT_REACH = 7
_SHORT_SUBJECT = 6


def find_abstentions(answer: str, claims: Sequence[ClaimRange], language: str | None = None) -> list[Abstention]:
    """The abstaining ones among ``claims``, in order; code and table cells never abstain."""
    lexicons = candidates(language, answer)
    found = []
    for claim in claims:
        if claim.kind in ("code", "table_cell"):
            continue
        text = answer[claim.start : claim.end]
        # An aside does not make its sentence abstain ("Use a brush (not mentioned in the text).").
        if not text.startswith(("(", "（")):
            text = _ASIDE.sub(" ", text)
        if _goes_on(text, lexicons):
            continue
        for lexicon in lexicons:
            kind = _read(read_tokens(text, lexicon), lexicon.postposed)
            if kind is not None:
                found.append(Abstention(claim.start, claim.end, kind))
                break
    return found


def _goes_on(text: str, lexicons: tuple[Lexicon, ...]) -> bool:
    """Whether "..., but ..." or "While ..., ..." adds a statement, which must not go unchecked."""
    for match in _COMMA.finditer(text):
        tail = text[match.end() :]
        for lexicon in lexicons:
            tokens = read_tokens(tail, lexicon)
            if len(tokens) < _SHORTEST_STATEMENT:
                continue
            opposed = tail[: tokens[0].end].casefold() in lexicon.cues("adversatives") or any(
                text[token.start : token.end].casefold() in lexicon.cues("concessives")
                for token in read_tokens(text[: match.start()], lexicon)
            )
            if opposed and not is_filler(tail, lexicons) and _read(tokens, lexicon.postposed) is None:
                return True
    return False


def _read(tokens: list[Token], postposed: bool) -> AbstentionKind | None:
    functions = [token.functions for token in tokens]
    for index, function in enumerate(functions):
        if function & _UNKNOWING and (kind := _judge(functions, index, index)):
            return kind
        if function & _NEGATIVE:
            for other in range(max(0, index - _REACH), min(len(functions), index + _REACH + 1)):
                if other < index and not _may_precede(functions, other, index, postposed):
                    continue
                if other != index and functions[other] & (_KNOWN | _OWN_KNOWLEDGE | _ASSISTANCE):
                    kind = _judge(functions, index, other)
                    if kind:
                        return kind
    return None


def _may_precede(functions: list[int], known: int, negation: int, postposed: bool) -> bool:
    """Whether the negation can govern what stands before it: a subject always, a verb in some languages.

    Never across a "that", behind which the reported statement is negated.
    """
    between = functions[known + 1 : negation]
    if functions[known] & _INFORMATION:
        if any(function & _KNOWLEDGE for function in functions[negation + 1 : negation + 5]):
            return True
        if negation + 1 == len(functions) and all(function & _CLEAN for function in between):
            return True
    return (
        postposed
        and bool(functions[known] & ~_INFORMATION)
        and not any(function & _COMPLEMENTIZER for function in between)
    )


def _judge(functions: list[int], negation: int, known: int) -> AbstentionKind | None:
    """What the sentence says if the word at ``negation`` negates the word at ``known``."""
    first, last = min(negation, known), max(negation, known)
    left, between, right = functions[:first], functions[first + 1 : last], functions[last + 1 :]
    if sum(not function for function in between) > _CONTENT_BETWEEN:
        return None
    verb = functions[known]
    # "gives no number": the verb stands before the negation of its object.
    head = left[:-1] if left and left[-1] & _KNOWLEDGE and verb & _INFORMATION else left
    clean = all(function & _CLEAN for function in head)
    near_source = any(function & _SOURCE for function in between + right[:_SOURCE_REACH])
    inability = bool(functions[negation] & _INABILITY)
    if clean:
        if any(function & _SOURCE for function in left) or near_source:
            return "not_in_documents" if verb & (_KNOWN | _UNKNOWING) else None
        if verb & _OWN_KNOWLEDGE and last - first <= 3:
            return "unknown"
        if verb & (_KNOWN | _UNKNOWING):
            if any(function & _SPEAKER for function in left[-_SUBJECT_REACH:] + between):
                return "unknown"
            addressed = any(function & _ADDRESSEE for function in left)
            if (inability and not addressed) or verb & _UNKNOWING:
                return "unknown"
            if verb & _INFORMATION or any(function & _INFORMATION for function in left):
                return "unknown"
            if not left and all(function & _CLEAN for function in right):
                return "unknown"
        if verb & _ASSISTANCE and inability:
            return "refusal"
        return None
    if not verb & (_KNOWN | _UNKNOWING):
        return None
    # Content before the negation: the source must be the sentence's own subject, or follow the verb at once.
    subject = next((i for i, function in enumerate(left[:4]) if function & _SOURCE), None)
    if subject is not None:
        framed = any(function & _FRAMING and not function & _SOURCE for function in left[:1])
        told = any(
            function & _COMPLEMENTIZER or (function & _KNOWLEDGE and not function & (_GLUE | _FRAMING))
            for function in left[subject + 1 :]
        )
        if not framed and not told and first - subject <= _SUBJECT_REACH:
            return "not_in_documents"
    behind = next((i for i, function in enumerate(right[:4]) if function & _SOURCE), None)
    if behind is not None and all(function & _CLEAN for function in right[:behind]):
        framed = any(function & _FRAMING and not function & _SOURCE for function in right[:1])
        return None if framed and not verb & _UNKNOWING else "not_in_documents"
    # "The price is not mentioned": the whole sentence is that something short goes unsaid. "Breakfast is not included"
    # is a statement.
    adjacent = last - first == 1 and negation < known
    passive = verb & _SAYING and adjacent and head and head[-1] & _GLUE
    if passive and all(function & _CLEAN for function in right) and len(left) <= _SHORT_SUBJECT:
        return "not_in_documents"
    return None
