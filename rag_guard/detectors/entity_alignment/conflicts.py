"""Step 3 of EAEV: the conflict indicator. Does a window say something else in the slot that the mention fills?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Conflict:
    """Why a mention conflicts with the documents.

    Attributes:
        kind: ``value`` (another quantity), ``value of another subject`` or ``value of another field`` (the documents
            have the value, but for something else), ``entity`` (another name or noun in the same place), ``antonym`` or
            the name of a class of exclusive values, ``negation``, or ``record`` (a field says the opposite).
        window: index of the window that says otherwise, ``start`` and ``end`` the range of its document that does.
        answer_start, answer_end: the range of the answer at fault.
        expected: what the documents have in its place, where one range of them says it.
    """

    kind: str
    window: int
    start: int
    end: int
    answer_start: int
    answer_end: int
    expected: str | None = None
