"""Bare answers to yes-or-no questions, in normal form."""

from __future__ import annotations

_YES = """yes yep yeah true correct ja jawohl stimmt oui si sí sì vero jo sant ano kyllä bai نعم أجل بله آری हाँ हां
是 是的 对 はい sim""".split()
_NO = """no nope false incorrect nein non falsch faux falso nej nei ne ei ez لا خیر نه नहीं 否 不 不是 いいえ não nee""".split()

VERDICTS: dict[str, bool] = {**dict.fromkeys(_YES, True), **dict.fromkeys(_NO, False)}
"""Word -> whether it affirms."""
