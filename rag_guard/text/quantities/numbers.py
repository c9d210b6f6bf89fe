"""Reading written numbers: separators of every notation, Han numerals and spelled-out words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rag_guard.text.quantities.folding import nfc
from rag_guard.text.quantities.lexicon import COMMA_DECIMAL

MAX_DIGITS = 40
"""A longer run of digits is a code, not an amount."""

NUMBER_RUN = re.compile(r"\d+(?:[.,']\d+)*")
SPACED_RUN = re.compile(r"\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d{1,2}(?!\d))?")
_INDIAN = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}")

VULGAR = {
    "½": 1 / 2, "⅓": 1 / 3, "⅔": 2 / 3, "¼": 1 / 4, "¾": 3 / 4, "⅕": 1 / 5, "⅖": 2 / 5, "⅗": 3 / 5, "⅘": 4 / 5, "⅙": 1 / 6,
    "⅚": 5 / 6, "⅛": 1 / 8, "⅜": 3 / 8, "⅝": 5 / 8, "⅞": 7 / 8, "⅐": 1 / 7, "⅑": 1 / 9, "⅒": 1 / 10,
}  # fmt: skip
HAN_DIGITS = {
    "〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
}  # fmt: skip
_HAN_SMALL = {"十": 10, "百": 100, "千": 1000}
_HAN_LARGE = {"万": 1e4, "萬": 1e4, "億": 1e8, "亿": 1e8, "兆": 1e12}
HAN_NUMERALS = "".join((*HAN_DIGITS, *_HAN_SMALL, *_HAN_LARGE))


@dataclass(frozen=True)
class Reading:
    """A number read from a stretch of text: its value, another possible value, and its decimals."""

    start: int
    end: int
    value: float
    alternative: float | None = None
    decimals: int = 0
    plain: bool = False
    """Digits only, no separator: only such a number may be a year."""


def _grouped(groups: list[str]) -> bool:
    return 1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])


def read_run(run: str, start: int, language: str | None) -> list[Reading] | None:
    """Read a run of digits and separators.

    Returns one reading, several where the run is a list without spaces (``1,2,3``), or ``None`` where it is a
    code with dots or too many digits.
    """
    end = start + len(run)
    if run.isdigit():
        return None if len(run) > MAX_DIGITS else [Reading(start, end, float(run), plain=True)]
    if len(run) > 2 * MAX_DIGITS:
        return None if "," not in run else _listed(run, start)
    separators = {char for char in run if not char.isdigit()}
    if " " in separators:
        head, _, tail = run.partition(" ")
        digits = re.sub(" ", "", head + " " + tail)
        match = re.fullmatch(r"(\d+)(?:[.,](\d+))?", digits)
        if match is None:
            return None
        return [Reading(start, end, float(digits.replace(",", ".")), decimals=len(match.group(2) or ""))]
    if separators == {"'"}:
        groups = run.split("'")
        return [Reading(start, end, float("".join(groups)))] if _grouped(groups) else _listed(run, start)
    if len(separators) == 1:
        return _read_single_separator(run, start, separators.pop(), language)
    return _read_mixed(run, start)


def _read_single_separator(run: str, start: int, separator: str, language: str | None) -> list[Reading] | None:
    end = start + len(run)
    groups = run.split(separator)
    if len(groups) == 2:
        whole, rest = groups
        decimal = float(f"{whole}.{rest}")
        if len(rest) == 3 and len(whole) <= 3 and not whole.startswith("0"):
            thousands = float(whole + rest)
            comma_decimal = language in COMMA_DECIMAL if language else False
            if (separator == ",") != comma_decimal:
                return [Reading(start, end, thousands, None if language else decimal)]
            # A point with three digits is a decimal in English, and a comma is one in German.
            return [Reading(start, end, decimal, None if language else thousands, 3)]
        return [Reading(start, end, decimal, None, len(rest))]
    if _grouped(groups):
        return [Reading(start, end, float("".join(groups)))]
    if separator == ",":
        if _INDIAN.fullmatch(run):
            return [Reading(start, end, float("".join(groups)))]
        return _listed(run, start)
    return None


def _read_mixed(run: str, start: int) -> list[Reading] | None:
    end = start + len(run)
    last = max(run.rfind("."), run.rfind(","))
    head, decimals = run[:last], run[last + 1 :]
    separators = {char for char in head if not char.isdigit()}
    if len(separators) == 1:
        separator = next(iter(separators))
        groups = head.split(separator)
        if separator != run[last] and (_grouped(groups) or (separator == "," and _INDIAN.fullmatch(head))):
            return [Reading(start, end, float("".join(groups) + "." + decimals), None, len(decimals))]
    return _listed(run, start)


def _listed(run: str, start: int) -> list[Reading]:
    readings = []
    for match in re.finditer(r"\d+(?:\.\d+)?", run):
        digits = match.group()
        if len(digits) <= MAX_DIGITS:
            decimals = len(digits.partition(".")[2])
            at = start + match.start()
            readings.append(Reading(at, at + len(digits), float(digits), None, decimals))
    return readings


def read_han(run: str) -> float | None:
    """Read Han numerals such as 二十五, 三百万 or 二〇二一."""
    if all(char in HAN_DIGITS for char in run):
        return float("".join(str(HAN_DIGITS[char]) for char in run)) if len(run) <= MAX_DIGITS else None
    if len(run) > MAX_DIGITS:
        return None
    total = section = 0.0
    digit: float | None = None
    for char in run:
        if char in HAN_DIGITS:
            digit = float(HAN_DIGITS[char])
        elif char in _HAN_SMALL:
            section += (1.0 if digit is None else digit) * _HAN_SMALL[char]
            digit = None
        else:
            section += digit or 0.0
            total += (section or 1.0) * _HAN_LARGE[char]
            section, digit = 0.0, None
    return total + section + (digit or 0.0)


# Beginnings of number words: a word that starts otherwise is never offered to the number library.
_STEMS = {
    "en": "zero one two three four five six seven eight nine ten eleven twel thir four fif six seven eigh nin twen for hundred thousand million billion second first",
    "de": "null ein zwei drei vier fünf sech sieb acht neun zehn elf zwölf zwan hundert tausend million milliard dreiß erst dritt",
    "fr": "zéro deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt trente quarante cinquante soixante cent mille million milliard premi",
    "es": "cero dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieci veint treinta cuarenta cincuenta sesenta setenta ochenta noventa cien "
    "dosc tresc cuatroc quinient seisc setec ochoc novec mil",
    "pt": "zero dois duas três quatro cinco seis sete oito nove dez onze doze treze quatorze catorze quinze dezasseis deze dezoito vinte trinta quarenta cinquenta sessenta "
    "setenta oitenta noventa cem cento duzent trezent quatroc quinhent mil",
    "it": "zero due tre quattr cinqu sei sett otto nove dieci undici dodici tredici quattordici quindici sedici dicia dicio venti vent trent quarant cinquant sessant settant "
    "ottant novant cento duecent mille mila milion",
    "nl": "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf der veer twintig honderd duizend",
    "da": "nul to tre fire fem seks syv otte ni ti elleve tolv tret fjort femten tyve tredive fyrre halvtreds tres halvfjerds firs halvfems hundrede tusind",
}  # fmt: skip
_LIBRARY_LANGUAGES = tuple(_STEMS)
# Number words that are everyday words of the same or of another language, never a number on their own.
_ALONE_UNCERTAIN = frozenset(
    "one an a once elf sei dos ten mil cent mille to ni ti tres fem due six otto sex en et ein eine einen einem einer un une uno una um uma een eins firs nove "
    "cento den null second first seconds primo prima erste ersten erster erstes premier première première first der third hundred thousand million billion millions "
    "hundreds thousands".split()
)
_SIMPLE = {
    "sv": "noll=0 två=2 tre=3 fyra=4 fem=5 sju=7 åtta=8 nio=9 tio=10 elva=11 tolv=12 tretton=13 fjorton=14 femton=15 sexton=16 sjutton=17 arton=18 nitton=19 tjugo=20 "
    "tjugofem=25 trettio=30 fyrtio=40 femtio=50 sextio=60 sjuttio=70 åttio=80 nittio=90 hundra=100",
    "fi": "nolla=0 kaksi=2 kolme=3 neljä=4 viisi=5 kuusi=6 seitsemän=7 kahdeksan=8 yhdeksän=9 kymmenen=10 kaksitoista=12 kaksikymmentä=20 kolmekymmentä=30 sata=100",
    "cs": "nula=0 dva=2 dvě=2 tři=3 čtyři=4 pět=5 šest=6 sedm=7 osm=8 devět=9 deset=10 jedenáct=11 dvanáct=12 třináct=13 čtrnáct=14 patnáct=15 dvacet=20 třicet=30 čtyřicet=40 "
    "padesát=50 šedesát=60 sedmdesát=70 osmdesát=80 devadesát=90 sto=100",
    "ca": "dues=2 tres=3 quatre=4 cinc=5 sis=6 set=7 vuit=8 nou=9 deu=10 onze=11 dotze=12 quinze=15 vint=20 trenta=30 quaranta=40 cinquanta=50 seixanta=60 vuitanta=80 noranta=90",
    "eu": "bi=2 hiru=3 lau=4 bost=5 sei=6 zazpi=7 zortzi=8 bederatzi=9 hamar=10 hamaika=11 hamabi=12 hamabost=15 hogei=20 ehun=100",
    "pl": "dwa=2 dwie=2 trzy=3 cztery=4 pięć=5 sześć=6 siedem=7 osiem=8 dziewięć=9 dziesięć=10 dwadzieścia=20 sto=100",
    "ru": "два=2 две=2 три=3 четыре=4 пять=5 шесть=6 семь=7 восемь=8 девять=9 десять=10 двенадцать=12 двадцать=20 тридцать=30 сорок=40 пятьдесят=50 сто=100",
    "ar": "اثنان=2 اثنين=2 ثلاثة=3 ثلاث=3 أربعة=4 أربع=4 خمسة=5 خمس=5 ستة=6 سبعة=7 سبع=7 ثمانية=8 ثماني=8 تسعة=9 تسع=9 عشرة=10 عشرون=20 عشرين=20 ثلاثون=30 ثلاثين=30 أربعون=40 "
    "أربعين=40 خمسون=50 خمسين=50 مائة=100 مئة=100",
    "fa": "دو=2 سه=3 چهار=4 پنج=5 شش=6 هفت=7 هشت=8 نه=9 ده=10 یازده=11 دوازده=12 بیست=20 سی=30 چهل=40 پنجاه=50 شصت=60 هفتاد=70 هشتاد=80 نود=90 صد=100",
    "hi": "दो=2 तीन=3 चार=4 पांच=5 पाँच=5 छह=6 सात=7 आठ=8 नौ=9 दस=10 ग्यारह=11 बारह=12 पंद्रह=15 बीस=20 पच्चीस=25 तीस=30 चालीस=40 पचास=50 साठ=60 सत्तर=70 अस्सी=80 नब्बे=90 सौ=100",
}  # fmt: skip
_SHORT_ELSEWHERE = frozenset("tre fem sis set nou bi sei lau deu sto nine due نه سی ده دو هفت شش".split())
LANGUAGE_HINTS = {
    "en": "the of and is was were in to for with that it are has have by from",
    "de": "der die das und ist im den dem des wurde sind nicht mit von auf ein eine für",
    "fr": "le la les des et est dans une du pour que qui sur sont avec au",
    "es": "el los las del y es en una por que con para fue son se",
    "it": "il gli della di e è una che per sono nel con dei alla",
    "pt": "os da do é uma em que para com não foi são dos",
    "nl": "het een van en is de voor met zijn werd aan op niet",
    "da": "og er af det en til på med som for blev",
    "sv": "och är av det en till på med som för var ett har",
    "fi": "ja on oli se että ei ovat hän joka",
    "cs": "je na se že byl byla jsou ve",
    "ca": "el els les és del amb una per que va",
    "eu": "eta da zen du dira ere bat ziren",
    "pl": "jest na się z był do że",
    "ru": "и в на с что был по",
}
_HINTS = {language: frozenset(words.split()) for language, words in LANGUAGE_HINTS.items()}
_STEM_PATTERN = re.compile(
    "|".join(sorted({stem for stems in _STEMS.values() for stem in stems.split()}, key=len, reverse=True))
)
_SIMPLE_VALUES = {
    language: {word: float(value) for word, _, value in (entry.partition("=") for entry in entries.split())}
    for language, entries in _SIMPLE.items()
}
JOINERS = frozenset("and y e und et i en".split())


class _Token:
    """One word in the form that text2num reads."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def text(self) -> str:
        return self._text

    def nt_separated(self, previous: object) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False


@lru_cache(maxsize=20_000)
def number_languages(word: str) -> tuple[str, ...]:
    """Return the languages in which ``word`` (folded) is a number word, cardinal or ordinal."""
    word = nfc(word)
    languages = [language for language, values in _SIMPLE_VALUES.items() if word in values]
    if _STEM_PATTERN.match(word):
        from text_to_num import find_numbers

        languages += [language for language in _LIBRARY_LANGUAGES if find_numbers([_Token(word)], language, 0.0)]
    return tuple(languages)


@lru_cache(maxsize=4096)
def read_words(words: tuple[str, ...], language: str) -> tuple[tuple[int, int, float, bool], ...]:
    """Return (first word, end word, value, is ordinal) of the numbers spelled out in ``words``."""
    if language in _SIMPLE_VALUES:
        values = _SIMPLE_VALUES[language]
        return tuple((index, index + 1, values[word], False) for index, word in enumerate(words) if word in values)
    from text_to_num import find_numbers

    found = find_numbers([_Token(word) for word in words], language, 0.0)
    return tuple((match.start, match.end, match.value, match.is_ordinal) for match in found)


def is_uncertain_alone(word: str) -> bool:
    """Whether a number word by itself is more often an article, a pronoun or a word of another language."""
    return word in _ALONE_UNCERTAIN


def guess_language(words: list[str]) -> str | None:
    """Return the language most of whose function words occur, or ``None``; only to read number words."""
    scores = {language: sum(word in hints for word in words) for language, hints in _HINTS.items()}
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] > 0 else None


def choose_language(languages: tuple[str, ...], word: str, language: str | None, guessed: str | None) -> str | None:
    """Return the language in which to read ``word``, or ``None`` where it is probably no number here."""
    for preferred in (language, guessed):
        if preferred in languages:
            return preferred
        if preferred is not None and word.isascii() and (len(word) <= 4 or word in _SHORT_ELSEWHERE):
            return None
    if word in _SHORT_ELSEWHERE:
        return None
    if language is not None and word.isascii() and languages != ("en",):
        return None
    return "en" if "en" in languages else languages[0]
