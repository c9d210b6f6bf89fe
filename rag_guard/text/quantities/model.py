"""What a quantity is: a value with its unit, its precision and its place in the text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Agreement(Enum):
    """How a quantity of an answer relates to a quantity of a document."""

    EQUAL = "equal"
    """The same value, whatever the notation or the unit."""
    APPROXIMATE = "approximate"
    """Compatible: by rounding, by an approximation word, or because one side says less."""
    DIFFERENT = "different"
    """The same kind of thing with another value."""
    INCOMPARABLE = "incomparable"
    """Another dimension or another kind: neither agrees nor conflicts."""


@dataclass(frozen=True)
class PartialDate:
    """The parts of a date or clock time that the text gives; an absent part is ``None``.

    Attributes:
        year: negative for years before Christ.
        day_month_order_unknown: ``03/04/2021``: day and month may swap.
        half_day_unknown: a clock time such as ``4:30`` that may be in the morning or in the afternoon.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    hour: int | None = None
    minute: int | None = None
    second: int | None = None
    day_month_order_unknown: bool = False
    half_day_unknown: bool = False


@dataclass(frozen=True)
class Quantity:
    """One quantity with half-open code point offsets into the original text.

    Attributes:
        text: ``original[start:end]``, without the approximation word.
        kind: ``number``, ``percent``, ``money``, ``measure`` (a physical unit, durations included), ``date``
            (bare years, decades and centuries included), ``time``, ``ordinal``, ``fraction``, ``ratio`` or
            ``identifier`` (versions, codes, phone numbers, addresses).
        low: the value, or the lower end of a range; ``None`` where there is no single number. Bare years have
            their year, clock times the hours since midnight.
        high: equal to ``low`` except in ranges, decades and centuries.
        value_start: where the number alone begins; it includes a magnitude (``2.5M``, ``99億``).
        unit: canonical name, a Pint unit, an ISO 4217 code or ``percent``.
        approximate: ``about``, ``almost``, ``more_than``, ``less_than``, ``at_least``, ``at_most`` or
            ``None``.
        date: the parts of a date or time; for a range its beginning.
        date_end: the end of a range of dates or times.
        decimals: decimals as written, before any magnitude.
        scale: the magnitude written after the digits (1e6 for ``2.5M``), so that the last written digit is
            worth ``scale * 10 ** -decimals``.
        alternative: the other reading of an ambiguous separator (``1,500`` may be 1.5).
        modifier_start: offsets of the approximation word.
    """

    start: int
    end: int
    text: str
    kind: str
    low: float | None
    high: float | None
    value_start: int
    value_end: int
    unit: str | None = None
    unit_start: int | None = None
    unit_end: int | None = None
    approximate: str | None = None
    date: PartialDate | None = None
    decimals: int = 0
    scale: float = 1.0
    alternative: float | None = None
    date_end: PartialDate | None = None
    modifier_start: int | None = None
    modifier_end: int | None = None

    @property
    def is_range(self) -> bool:
        """Whether the quantity spans more than one value."""
        return self.low is not None and self.high is not None and self.low < self.high

    @property
    def unit_text(self) -> str | None:
        """The unit as written, or ``None``."""
        if self.unit_start is None or self.unit_end is None:
            return None
        return self.text[self.unit_start - self.start : self.unit_end - self.start]
