"""Words around a number that loosen it: about, almost, over, at most, up to."""

from __future__ import annotations

import re

from rag_guard.text.quantities.folding import nfc

_BEFORE_WORDS = {
    "about": (
        "about|approximately|approx|approx.|around|roughly|circa|ca|ca.|c.|some|an estimated|estimated|in the region of|on the order of|"
        "etwa|ungefähr|rund|zirka|gegen|circa|environ|à peu près|approximativement|autour de|quelque|"
        "aproximadamente|alrededor de|cerca de|unos|unas|en torno a|circa|all'incirca|intorno a|"
        "por volta de|ongeveer|rond|zo'n|cirka|ungefär|omkring|runt|noin|suunnilleen|asi|přibližně|zhruba|kolem|cca|"
        "aproximadament|al voltant de|uns|unes|gutxi gorabehera|حوالي|نحو|تقريبا|تقريبًا|حدود|تقریبا|تقریباً|लगभग|करीब|"
        "около|примерно|приблизительно|około|mniej więcej|omtrent|cirka|yaklaşık"
    ),
    "almost": (
        "almost|nearly|close to|just under|just below|not quite|knapp|fast|beinahe|nahezu|annähernd|presque|près de|pas loin de|casi|cerca de los|quasi|"
        "poco meno di|quase|bijna|nästan|närmare|knappt|lähes|melkein|liki|téměř|skoro|gairebé|ia|ما يقرب من|قرابة|نزدیک به|"
        "почти|prawie|niemal|nesten|næsten"
    ),
    "more_than": (
        "more than|over|above|in excess of|upwards of|greater than|exceeding|exceeds|exceeded|just over|mehr als|über|plus de|más de|oltre|più di|mais de|"
        "meer dan|ruim|över|mer än|drygt|fler än|yli|enemmän kuin|přes|více než|víc než|més de|baino gehiago|أكثر من|بیش از|"
        "более|больше|свыше|ponad|więcej niż|mer enn|mere end"
    ),
    "less_than": (
        "less than|fewer than|under|below|lower than|weniger als|unter|moins de|menos de|meno di|minder dan|under|mindre än|färre än|alle|"
        "vähemmän kuin|méně než|pod|menys de|أقل من|کمتر از|менее|меньше|mniej niż|poniżej"
    ),
    "at_least": (
        "at least|no less than|not less than|no fewer than|a minimum of|minimum of|minimum|min.|mindestens|wenigstens|minimal|au moins|au minimum|"
        "al menos|por lo menos|como mínimo|mínimo de|almeno|come minimo|pelo menos|no mínimo|minstens|ten minste|minst|åtminstone|"
        "vähintään|ainakin|alespoň|nejméně|minimálně|almenys|com a mínim|gutxienez|على الأقل|حداقل|कम से कम|"
        "не менее|как минимум|co najmniej"
    ),
    "at_most": (
        "at most|at the most|no more than|not more than|up to|a maximum of|maximum of|maximum|max.|max|as many as|as much as|not exceeding|"
        "höchstens|maximal|bis zu|au plus|au maximum|jusqu'à|como máximo|a lo sumo|máximo de|hasta|al massimo|fino a|"
        "no máximo|até|hoogstens|maximaal|tot|högst|upp till|maximalt|enintään|korkeintaan|jopa|nejvýše|maximálně|až|com a màxim|"
        "fins a|gehienez|حداکثر|не более|до|co najwyżej|do"
    ),
}
_AFTER_WORDS = {
    "at_least": "or more|or above|or over|or greater|and over|and above|minimum|oder mehr|ou plus|o más|o più|ou mais|of meer|eller mer|tai enemmän|a více",
    "at_most": "or less|or fewer|or below|or under|maximum|oder weniger|ou moins|o menos|o meno|of minder|eller mindre",
    "about": "or so|approximately|gutxi gorabehera|inguru|circa",
    "more_than": "से अधिक|से ज़्यादा|baino gehiago",
    "less_than": "से कम|baino gutxiago",
}
_BEFORE_SIGNS = {
    "~": "about", "≈": "about", "≃": "about", "±": "about", ">": "more_than", "<": "less_than", "≥": "at_least", "≤": "at_most",
}  # fmt: skip
_BEFORE_HAN = {
    "約": "about", "约": "about", "大约": "about", "大約": "about", "大概": "about", "およそ": "about", "おおよそ": "about", "약": "about",
    "ほぼ": "about", "近": "almost", "将近": "almost", "接近": "almost", "超过": "more_than", "超過": "more_than", "逾": "more_than",
    "不到": "less_than", "不足": "less_than", "少于": "less_than", "至少": "at_least", "少なくとも": "at_least", "最低": "at_least",
    "最少": "at_least", "最多": "at_most", "至多": "at_most", "最大": "at_most", "不超过": "at_most", "高达": "at_most", "최대": "at_most", "최소": "at_least",
}  # fmt: skip
_AFTER_HAN = {
    "以上": "at_least", "以下": "at_most", "以内": "at_most", "未満": "less_than", "未满": "less_than", "超": "more_than", "余": "more_than",
    "多": "more_than", "程度": "about", "左右": "about", "前後": "about", "ほど": "about", "弱": "almost", "強": "more_than", "이상": "at_least",
    "이하": "at_most", "미만": "less_than", "정도": "about",
}  # fmt: skip


def _invert(table: dict[str, str]) -> dict[str, str]:
    return {phrase: name for name, phrases in table.items() for phrase in phrases.split("|")}


_BEFORE = _invert(_BEFORE_WORDS)
_AFTER = _invert(_AFTER_WORDS)
_LONGEST_HAN = max(len(word) for word in _BEFORE_HAN)
_WORD = re.compile(r"[^\s(\[\"“]+")
_SKIPPED = {"a", "an", "the", "de", "of", "los", "las"}
_AFTER_CANDIDATE = re.compile(r"\s?(\+(?![\d\w])|[^\W\d_]+(?: [^\W\d_]+)?)")
_REACH_BEFORE = 40


def before(shadow: str, start: int) -> tuple[str, int, int] | None:
    """Return (modifier, start, end) of an approximation word that ends right before ``start``."""
    lower = max(0, start - _REACH_BEFORE)
    segment = shadow[lower:start].rstrip(" *_`")
    if not segment:
        return None
    end = lower + len(segment)
    sign = _BEFORE_SIGNS.get(segment[-1])
    if sign is not None:
        return sign, end - 1, end
    if segment[-1] > "\u2fff":
        for length in range(_LONGEST_HAN, 0, -1):
            name = _BEFORE_HAN.get(segment[-length:])
            if name is not None:
                return name, end - min(length, len(segment)), end
        return None
    words = list(_WORD.finditer(segment))[-5:]
    if words and words[-1].end() != len(segment):
        return None
    for last in (len(words), len(words) - 1):
        for first in range(max(0, last - 4), last):
            phrase = " ".join(nfc(word.group()) for word in words[first:last])
            name = _BEFORE.get(phrase)
            if name is not None:
                return name, lower + words[first].start(), lower + words[last - 1].end()
        if not words or words[-1].group() not in _SKIPPED:
            break
    return None


def after(shadow: str, end: int) -> tuple[str, int, int] | None:
    """Return (modifier, start, end) of an approximation word that follows ``end``."""
    for length in (2, 1):
        name = _AFTER_HAN.get(shadow[end : end + length])
        if name is not None:
            return name, end, end + length
        # A counter may stand between: 100人以上.
        name = _AFTER_HAN.get(shadow[end + 1 : end + 1 + length]) if length == 2 else None
        if name is not None and shadow[end : end + 1] > "\u2fff":
            return name, end + 1, end + 1 + length
    match = _AFTER_CANDIDATE.match(shadow, end)
    if match is None:
        return None
    phrase = match.group(1)
    if phrase == "+":
        return "at_least", match.start(1), match.end(1)
    name = _AFTER.get(nfc(phrase))
    if name is not None:
        return name, match.start(1), match.end(1)
    return None
