"""The reading position in a text and the quantities found before it."""

from __future__ import annotations

import re
from dataclasses import replace

from rag_guard.text.quantities import modifiers, numbers
from rag_guard.text.quantities.folding import fold
from rag_guard.text.quantities.lexicon import Lexicon, lexicon
from rag_guard.text.quantities.model import Quantity


class Cursor:
    """The text, how far it is read, and what was found so far."""

    def __init__(self, text: str, language: str | None) -> None:
        self.text = text
        self.shadow = fold(text)
        self.language = language
        self.lex: Lexicon = lexicon()
        self.found: list[Quantity] = []
        self.position = 0
        self._guessed: tuple[str | None] | None = None

    def _emit(self, quantity: Quantity) -> None:
        self.position = max(self.position, quantity.end)
        before = modifiers.before(self.shadow, quantity.start)
        found = before or modifiers.after(self.shadow, quantity.end)
        if found is None and quantity.unit_start is not None and self.shadow.startswith("+", quantity.value_end):
            found = ("at_least", quantity.value_end, quantity.value_end + 1)
        if found is not None:
            name, start, end = found
            if self.found and start < self.found[-1].end:
                found = None
            else:
                quantity = replace(quantity, approximate=name, modifier_start=start, modifier_end=end)
        self.found.append(quantity)

    def _make(
        self, start: int, end: int, kind: str, low: float | None, high: float | None = None, **parts: object
    ) -> Quantity:
        value = parts.pop("value", (start, end))
        assert isinstance(value, tuple)
        return Quantity(
            start,
            end,
            self.text[start:end],
            kind,
            low,
            low if high is None else high,
            value[0],
            value[1],
            **parts,  # type: ignore[arg-type]
        )

    def _guess(self) -> str | None:
        if self._guessed is None:
            words = re.findall(r"[^\W\d_]+", self.shadow[:4000])
            self._guessed = (numbers.guess_language(words),)
        return self._guessed[0]

    def _identifier_to(self, begin: int, end: int) -> None:
        self._emit(self._make(begin, end, "identifier", None))
