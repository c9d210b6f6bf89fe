"""The smallest part of a sentence that carries a fault, and how to cut it without leaving debris.

A bracket, an argument in code, a modifier, an appositive, a prepositional phrase, one of several joined things, a
clause. Where a parse is at hand it says what depends on what; else punctuation and conjunctions do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import regex

from rag_guard.repair.edits import Change
from rag_guard.repair.outline import Outline
from rag_guard.text.lexicons.cues import candidates
from rag_guard.text.words import find_words, normalize

_MODIFIERS = frozenset({"amod", "advmod", "npadvmod", "appos", "acl", "relcl", "advcl", "prep", "agent", "parataxis"})
_NEEDS_OBJECT = frozenset({"dobj", "attr", "acomp", "nsubjpass", "auxpass", "oprd", "dative", "agent"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})
_CONDITIONS = frozenset({"if", "unless", "except", "until"})
_DASHES = ("–", "—", " - ")
_DELIMITERS = regex.compile(r"[,;，；、،]\s*")
_END = regex.compile(r"[.!?。！？।؟…:;]*\s*\Z")
_STOPS = ".!?。！？।؟…"
_WORD = regex.compile(r"[\p{L}\p{N}]")
_LARGEST_PART = 0.5  # of a sentence's words, for a cut made without a parse


@dataclass(frozen=True)
class _Text:
    """A sentence without marks and citation markers, and where each of its characters stands in the answer."""

    plain: str
    origin: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The range in the answer of a range of ``plain``."""
        return self.origin[start], self.origin[end - 1] + 1

    def position(self, offset: int) -> int:
        """Where in ``plain`` an offset of the answer falls."""
        return next((i for i, place in enumerate(self.origin) if place >= offset), len(self.origin))


def part_cuts(
    outline: Outline, sentence: tuple[int, int], start: int, end: int, parser: Any | None
) -> Iterator[tuple[Change, ...]]:
    """Ways to cut ``[start, end)`` out of its sentence, the smallest part first; each leaves a sentence."""
    code = outline.in_code(start, end)
    if code is not None:
        yield from _code_cuts(outline, code, start, end)
        return
    link = outline.link_around(start, end)
    if link:
        yield tuple(Change(*mark) for mark in link)
        return
    seen: set[tuple[tuple[int, int, str], ...]] = set()
    for changes in _candidates(outline, sentence, start, end, parser):
        key = tuple((c.start, c.end, c.replacement) for c in changes)
        if key not in seen and all(outline.is_balanced(c.start, c.end) for c in changes):
            seen.add(key)
            yield changes


def _candidates(
    outline: Outline, sentence: tuple[int, int], start: int, end: int, parser: Any | None
) -> Iterator[tuple[Change, ...]]:
    text = _plain(outline, sentence)
    bracket = outline.bracket_around(start, end, sentence)
    if bracket is not None:
        low, high = bracket
        while low > sentence[0] and outline.answer[low - 1].isspace():
            low -= 1
        yield (Change(low, high),)
    low, high = text.position(start), text.position(end)
    measure = next((q for q in outline.analysis.quantities if q.start < end and start < q.end), None)
    if parser is not None:
        if measure is not None:
            low, high = min(low, text.position(measure.start)), max(high, text.position(measure.end))
        for changes in _parsed(text, low, high, parser):
            fitted = _fit(outline, text, changes)
            if fitted:
                yield fitted
    else:
        for cut in _punctuated(outline, text, low, high):
            fitted = _fit(outline, text, [cut])
            if fitted:
                yield fitted
    clause = next(
        (c for c in outline.analysis.claims if c.kind == "clause" and c.start <= start and end <= c.end), None
    )
    if clause is not None:
        stop = len(text.plain[: text.position(clause.end)].rstrip(_STOPS))
        fitted = _fit(outline, text, [_widened(text.plain, text.position(clause.start), stop)])
        if fitted:
            yield fitted


def _plain(outline: Outline, sentence: tuple[int, int]) -> _Text:
    hidden = outline.marks(*sentence) + [(c.start, c.end) for c in outline.analysis.citations]
    skip = {i for a, b in hidden for i in range(max(a, sentence[0]), min(b, sentence[1]))}
    origin = [i for i in range(*sentence) if i not in skip]
    return _Text("".join(outline.answer[i] for i in origin), origin)


def _fit(outline: Outline, text: _Text, cuts: list[tuple[int, int, str]]) -> tuple[Change, ...] | None:
    """Cuts of the plain text as changes of the answer that keep its marks whole; None if that cannot be."""
    changes = []
    for start, end, replacement in cuts:
        if start >= end or not text.plain[:start].strip() + text.plain[end:].strip(" .!?"):
            return None
        fitted = outline.without_splitting_marks(*text.span(start, end))
        if fitted is None:
            return None
        low, high, kept = fitted
        if not replacement:
            high = _with_own_citation(outline, text, low, high)
        changes.append(Change(low, high, kept + replacement))
    return tuple(changes)


def _with_own_citation(outline: Outline, text: _Text, start: int, end: int) -> int:
    """The end of a cut with a marker right behind it that is its own: the rest of the sentence has one before it."""
    earlier = [c for c in outline.analysis.citations if text.origin[0] <= c.start < start]
    for marker in outline.analysis.citations:
        if earlier and marker.start >= end and not outline.answer[end : marker.start].strip():
            end = marker.end
    return end


# --- by parse ---------------------------------------------------------------------------------------------------------


def _parsed(text: _Text, low: int, high: int, parser: Any) -> Iterator[list[tuple[int, int, str]]]:
    tokens = parser.parse(text.plain)
    touched = [t for t in tokens if t.idx < high and low < t.idx + len(t.text) and not t.is_space]
    if not touched:
        return
    node = min(touched, key=lambda t: sum(1 for _ in t.ancestors))
    first, last = touched[0].i, touched[-1].i
    if last + 1 < len(tokens) and tokens[last].pos_ in ("NOUN", "PROPN") and tokens[last + 1].dep_ in ("acomp", "amod"):
        # "888 m deep": the measure of an adjective, whatever the parser takes it for.
        yield [_widened(text.plain, tokens[first].idx, _stop(tokens[last]))]
    while True:
        left, right = _extent(node)
        if left <= first and last <= right:
            if node.dep_ != "ROOT" and _is_removable(node):
                yield [_widened(text.plain, tokens[left].idx, _stop(tokens[right]))]
            cut = _without_member(text.plain, tokens, node)
            if cut:
                yield cut
        if node.head.i == node.i:
            return
        node = node.head


def _extent(node: Any) -> tuple[int, int]:
    """First and last token of what hangs on a token, without what is joined to it."""
    left, right = node.left_edge.i, node.right_edge.i
    for child in node.rights:
        if child.dep_ in ("conj", "cc", "preconj"):
            right = min(right, child.left_edge.i - 1)
    while right > node.i and node.doc[right].text in (",", ";"):
        right -= 1
    return left, right


def _is_removable(node: Any) -> bool:
    head = node.head
    if node.dep_ == "prep" and head.pos_ in ("VERB", "AUX"):
        # "depends on X" needs its preposition; a verb that has an object, or another phrase, does not.
        others = [c for c in head.children if c.i != node.i and c.dep_ == "prep"]
        return bool(others) or any(c.dep_ in _NEEDS_OBJECT for c in head.children)
    if node.dep_ == "advcl":
        return not any(c.dep_ == "mark" and c.lower_ in _CONDITIONS for c in node.children)
    if node.dep_ == "compound":
        return bool(node.pos_ == "NOUN" == head.pos_)
    return node.dep_ in _MODIFIERS


def _without_member(plain: str, tokens: Any, node: Any) -> list[tuple[int, int, str]] | None:
    """The cut of one of several joined things ("A, B and C") that leaves the others joined."""
    chain = _chain(node)
    if len(chain) < 2:
        return None
    k = chain.index(node)
    if len(chain) == 2 and chain[0].dep_ in _SUBJECTS:
        return None  # the verb would no longer agree
    extents = [_extent(member) for member in chain]
    if k == 0:
        start = extents[0][0]
        if node.pos_ in ("VERB", "AUX") and not any(c.dep_ in _SUBJECTS for c in chain[1].children):
            start = node.i  # the subject serves the next verb too
        begin = tokens[start].idx
        return [_opening(plain, begin, tokens[extents[1][0]].idx)]
    begin, stop = _stop(tokens[extents[k - 1][1]]), _stop(tokens[extents[k][1]])
    cut = (begin, stop, "")
    if k < len(chain) - 1:
        if len(chain) == 3 and plain[stop : stop + 1] == ",":
            cut = (begin, stop + 1, "")
        return [cut]
    joint = next((t for m in chain for t in m.children if t.dep_ == "cc"), None)
    if len(chain) > 2 and joint is not None:
        gap = _stop(tokens[extents[k - 2][1]]), tokens[extents[k - 1][0]].idx
        if plain[gap[0] : gap[1]].strip() == ",":
            return [(gap[0], gap[1], f" {joint.text} "), cut]
    if plain[stop:].startswith(",") and plain[begin:stop].lstrip().startswith(","):
        cut = (begin, stop + 1, "")
    return [cut]


def _chain(node: Any) -> list[Any]:
    first = node
    while first.dep_ == "conj":
        first = first.head
    members, waiting = [first], [first]
    while waiting:
        for child in waiting.pop().rights:
            if child.dep_ == "conj":
                members.append(child)
                waiting.append(child)
    return sorted(members, key=lambda token: token.i)


def _stop(token: Any) -> int:
    return int(token.idx + len(token.text))


# --- by punctuation ---------------------------------------------------------------------------------------------------


def _punctuated(outline: Outline, text: _Text, low: int, high: int) -> Iterator[tuple[int, int, str]]:
    """Between commas, or from a conjunction to the next comma or the end, if what stays is most of the sentence."""
    plain = text.plain
    total = len(find_words(plain))
    commas = [match.span() for match in _DELIMITERS.finditer(plain) if not _inside_number(plain, match.start())]
    before = max((end for _, end in commas if end <= low), default=0)
    after = min((start for start, _ in commas if start >= high), default=len(plain))
    stop = min(after, _END.search(plain).start()) if after == len(plain) else after  # type: ignore[union-attr]
    conjunctions = {
        word for lexicon in candidates(outline.language, plain) for word in lexicon.cues("conjunctions").entries
    }
    for word in reversed(find_words(plain[before:low])):
        if normalize(word.text) in conjunctions:
            start = before + word.start
            if len(find_words(plain[start:stop])) <= _LARGEST_PART * total:
                yield _widened(plain, start, stop)
            break
    if before and len(find_words(plain[before:stop])) <= _LARGEST_PART * total:
        yield _widened(plain, before, stop)


def _inside_number(plain: str, position: int) -> bool:
    return plain[position - 1 : position].isdigit() and plain[position + 1 : position + 2].isdigit()


def _widened(plain: str, start: int, stop: int) -> tuple[int, int, str]:
    """A cut with the space and the commas that belong to it, and a new capital where it opened the sentence."""
    left, right = plain[:start].rstrip(), plain[stop:].lstrip()
    if not _WORD.search(left):
        after = len(plain) - len(plain[stop:].lstrip(" ,;:，、–—-"))
        return _opening(plain, start, after)
    for mark in (",", ";", "，", "、", *_DASHES):
        if not left.endswith(mark.strip()):
            continue
        opening = len(left) - len(mark.strip())
        closes = right.startswith(mark.strip())
        if closes:
            inner = len(plain) - len(right) + len(mark.strip())
            return len(plain[:opening].rstrip()), inner, ""
        if not right or not _WORD.match(right) or mark == ";":
            return len(plain[:opening].rstrip()), stop, ""
        break
    return len(left), stop, ""


def _opening(plain: str, start: int, after: int) -> tuple[int, int, str]:
    """A cut up to ``after``; what opens the sentence then takes over the capital."""
    was_upper = plain[start : start + 1].isupper() and not _WORD.search(plain[:start])
    following = plain[after : after + 1]
    if was_upper and following.islower():
        return start, after + 1, following.upper()
    return start, after, ""


# --- code -------------------------------------------------------------------------------------------------------------


def _code_cuts(outline: Outline, code: tuple[int, int], start: int, end: int) -> Iterator[tuple[Change, ...]]:
    """An argument or element between commas in brackets, then the line."""
    answer = outline.answer
    low, depth = start, 0
    while low > code[0] and (depth or answer[low - 1] not in ",([{\n"):
        low -= 1
        depth += (answer[low] in ")]}") - (answer[low] in "([{")
    high, depth = end, 0
    while high < code[1] and (depth or answer[high] not in ",)]}\n"):
        depth += (answer[high] in "([{") - (answer[high] in ")]}")
        high += 1
    opened = low > code[0] and answer[low - 1] in ",([{"
    if opened and high < code[1] and answer[high] in ",)]}":
        if answer[low - 1] == ",":
            yield (Change(low - 1, high),)
        elif answer[high] == ",":
            while high + 1 < code[1] and answer[high + 1] == " ":
                high += 1
            yield (Change(low, high + 1),)
        else:
            yield (Change(low, high),)
    line_start = max(answer.rfind("\n", 0, start) + 1, code[0])
    line_end = answer.find("\n", end)
    if 0 <= line_end < code[1]:
        yield (Change(line_start, line_end + 1),)
    elif line_start > code[0]:
        stop = min(code[1], len(answer) if line_end < 0 else line_end)
        yield (Change(line_start - 1, stop),)
