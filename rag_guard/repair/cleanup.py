"""Take whole sentences, list items, table rows and code blocks out of an answer without leaving debris.

A heading with nothing left under it goes, and so does the lead-in of an emptied list, the rule and header of an emptied
table, and the fences of emptied code; later items of a numbered list count on without a gap.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import regex

from rag_guard.repair.edits import Change
from rag_guard.repair.outline import Outline
from rag_guard.text.blocks import Block

_HASHES = regex.compile(r"[ \t]*(#{1,6})[ \t]")
_NUMBER = regex.compile(r"([ \t]*\(?)(\d{1,3})([.)][ \t])")
_LEAD_IN_END = regex.compile(r"[:：][*_ \t]*\Z")
_FENCE_LINE = regex.compile(r"[ \t]*(?:`{3,}|~{3,})[^\n]*")
_BOLD_LINE = regex.compile(r"(\*\*|__).+\1:?\s*\Z")
_UNDERLINE = regex.compile(r"\s*(?:=+|-{2,})[ \t]*")
_BLANK_LINES = regex.compile(r"(?:[ \t\r]*\n)+")
_LOWEST_HEADING = 7  # a bold line serves as a heading below all others


def removal(outline: Outline, sentences: Collection[tuple[int, int]], reason: str = "") -> list[Change]:
    """The changes that take ``sentences`` (ranges of ``outline.sentences``) out, and what would dangle without them."""
    gone = _Gone(outline, set(sentences))
    changes = [Change(start, end, "", reason) for start, end in gone.ranges()]
    return changes + [Change(start, end, text, "renumbered") for start, end, text in _renumbered(outline, gone.blocks)]


class _Gone:
    """Which blocks and which sentences of other blocks go."""

    def __init__(self, outline: Outline, sentences: set[tuple[int, int]]) -> None:
        self.outline = outline
        self.sentences = sentences
        self.blocks: set[int] = {
            i for i, own in enumerate(outline.sentences) if own and all(s in sentences for s in own)
        }
        if self.blocks or sentences:
            self._drop_tables()
            self._drop_lead_ins()
            self._drop_headings()

    def _drop_tables(self) -> None:
        blocks = self.outline.blocks
        for i, block in enumerate(blocks):
            if block.kind == "table_header":
                rows = _following(blocks, i, ("table_row", "table_rule"))
                body = [j for j in rows if blocks[j].kind == "table_row"]
                if body and all(j in self.blocks for j in body):
                    self.blocks.update((i, *rows))

    def _drop_lead_ins(self) -> None:
        """Lead-ins ("These are the rules:") whose list, table or code has gone."""
        blocks, answer = self.outline.blocks, self.outline.answer
        for i, block in enumerate(blocks):
            own = self.outline.sentences[i]
            if block.kind not in ("paragraph", "list_item") or not own or i in self.blocks:
                continue
            led = _following(blocks, i, ("list_item",)) or _following(
                blocks, i, ("table_header", "table_row", "table_rule")
            )
            led = led or _following(blocks, i, ("code",))[:1]
            if block.kind == "list_item":
                led = [j for j in led if self._indent(j) > self._indent(i)]
            if led and all(j in self.blocks for j in led) and _LEAD_IN_END.search(answer[own[-1][0] : own[-1][1]]):
                self.sentences.add(own[-1])
                if all(s in self.sentences for s in own):
                    self.blocks.add(i)

    def _drop_headings(self) -> None:
        blocks = self.outline.blocks
        for i in range(len(blocks) - 1, -1, -1):
            level = self._level(i)
            if level is None or i in self.blocks:
                continue
            section = []
            for j in range(i + 1, len(blocks)):
                other = self._level(j)
                if other is not None and other <= level:
                    break
                section.append(j)
            if section and all(j in self.blocks for j in section):
                self.blocks.add(i)

    def _level(self, index: int) -> int | None:
        block = self.outline.blocks[index]
        line = self.outline.answer[_line_start(self.outline.answer, block.start) : block.end]
        if block.kind == "heading":
            hashes = _HASHES.match(line)
            return len(hashes.group(1)) if hashes else 1
        return _LOWEST_HEADING if block.kind == "paragraph" and _BOLD_LINE.match(line.strip()) else None

    def _indent(self, index: int) -> int:
        answer, block = self.outline.answer, self.outline.blocks[index]
        line = answer[_line_start(answer, block.start) : block.start]
        return len(line) - len(line.lstrip())

    def ranges(self) -> Iterator[tuple[int, int]]:
        """What to delete, in order, disjoint within a block."""
        first: int | None = None
        for i, block in enumerate(self.outline.blocks):
            if i in self.blocks:
                first = i if first is None else first
                if i + 1 not in self.blocks:
                    yield self._lines(first, i)
                    first = None
                continue
            kept = [s for s in self.outline.sentences[i] if s not in self.sentences]
            for sentence in self.outline.sentences[i]:
                if sentence in self.sentences:
                    yield self._sentence(sentence, block, kept)

    def _sentence(self, sentence: tuple[int, int], block: Block, kept: list[tuple[int, int]]) -> tuple[int, int]:
        answer = self.outline.answer
        start, end = sentence
        # Citations right behind the full stop belong to the sentence, wherever the sentence splitter put them.
        for marker in self.outline.analysis.citations:
            if (
                marker.start >= end
                and not answer[end : marker.start].strip()
                and "\n" not in answer[end : marker.start]
            ):
                end = marker.end
        fitted = self.outline.without_splitting_marks(start, end)
        if fitted is not None and not fitted[2]:
            start, end = fitted[:2]
        if any(other[1] > end for other in kept):
            while end < block.end and answer[end].isspace():
                end += 1
        else:
            while start > block.start and answer[start - 1].isspace():
                start -= 1
        return start, end

    def _lines(self, first: int, last: int) -> tuple[int, int]:
        """The lines of a run of blocks with their fences, and the blank lines that set them off."""
        answer = self.outline.answer
        start, end = self._outer(first)[0], self._outer(last)[1]
        below = _skip_blank(answer, end)
        if below < len(answer):
            # The blank line below stays where it is what sets the text above apart.
            parts = not start or _blank_before(answer, start)
            return start, below if parts or not _is_blank_line(answer[end:below]) else min(end + 1, len(answer))
        while start > 0 and answer[start - 1].isspace():
            start -= 1
        return start, end

    def _outer(self, index: int) -> tuple[int, int]:
        """The lines of a block with its fences or the underline of a heading."""
        answer, block = self.outline.answer, self.outline.blocks[index]
        start, end = _line_start(answer, block.start), _line_end(answer, block.end)
        following = _line_end(answer, min(end + 1, len(answer)))
        if block.kind == "code":
            opening = _line_start(answer, max(start - 1, 0))
            if _FENCE_LINE.fullmatch(answer[opening:start].rstrip("\r\n")):
                start = opening
            if _FENCE_LINE.fullmatch(answer[end:following].strip("\r\n")):
                end = following
        elif block.kind == "heading" and _UNDERLINE.fullmatch(answer[end:following]):
            end = following
        return start, end


def _following(blocks: list[Block], index: int, kinds: tuple[str, ...]) -> list[int]:
    """The run of blocks of these kinds right behind one."""
    run: list[int] = []
    for j in range(index + 1, len(blocks)):
        if blocks[j].kind not in kinds:
            break
        run.append(j)
    return run


def _renumbered(outline: Outline, gone: set[int]) -> Iterator[tuple[int, int, str]]:
    """New numbers for the items of counted lists that lost one; a list not counted in steps of one is left alone."""
    answer, blocks = outline.answer, outline.blocks
    items: list[tuple[int, int, int, int]] = []
    for i, block in enumerate(blocks):
        line = _line_start(answer, block.start)
        match = _NUMBER.match(answer, line) if block.kind == "list_item" else None
        if match is None:
            if block.kind not in ("list_item", "code"):
                yield from _counted(items, gone)
                items = []
            continue
        number = int(match.group(2))
        if items and number != items[-1][3] + 1:
            yield from _counted(items, gone)
            items = []
        items.append((i, match.start(2), match.end(2), number))
    yield from _counted(items, gone)


def _counted(items: list[tuple[int, int, int, int]], gone: set[int]) -> Iterator[tuple[int, int, str]]:
    lost = 0
    for index, start, end, number in items:
        if index in gone:
            lost += 1
        elif lost:
            yield start, end, str(number - lost)


def _line_start(answer: str, position: int) -> int:
    return answer.rfind("\n", 0, position) + 1


def _line_end(answer: str, position: int) -> int:
    stop = answer.find("\n", position)
    return len(answer) if stop < 0 else stop


def _skip_blank(answer: str, position: int) -> int:
    """The start of the next line with text, or the end."""
    match = _BLANK_LINES.match(answer, position)
    return match.end() if match else (len(answer) if not answer[position:].strip() else position)


def _blank_before(answer: str, start: int) -> bool:
    return answer[:start].endswith(("\n\n", "\r\n\r\n")) or start == 0


def _is_blank_line(between: str) -> bool:
    return between.count("\n") > 1
