"""Derive the English word relations in ``rag_guard/text/lexicons/data`` from the WordNet 3.0 database files.

Usage::

    python benchmarks/build_lexicon.py DICT_FOLDER

``DICT_FOLDER`` holds ``data.noun``, ``index.noun``, ``noun.exc``, ``cntlist.rev`` and their siblings, as in
Debian's package ``wordnet-base`` (``/usr/share/wordnet``) or Princeton's ``WNdb-3.0.tar.gz``. The output is
one gzipped text file of four sections, each a line ``[name]`` followed by lines ``word<TAB>words``:

* ``antonyms``: lemmas with a direct antonym pointer between senses that are frequent for both;
* ``synonyms``: lemmas that share a synset in frequent senses of both; adjectives also with the head that they
  are similar to;
* ``derived``: lemmas with a derivational pointer (employ, employee, employment);
* ``irregular``: inflected forms and their lemmas (led, lead).

Lemmas are lower case, one word or hyphenated. A relation is kept once, under the word that sorts first.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections import Counter, defaultdict
from pathlib import Path

OUTPUT = Path(__file__).parents[1] / "rag_guard" / "text" / "lexicons" / "data" / "english.txt.gz"
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
ANTONYM_SENSES = 4
SYNONYM_SENSES = {"n": 2, "v": 2, "a": 2, "r": 2}
DERIVED_SENSES = 4
RARE = 99
ENOUGH_USES = 4
MIN_SHARE = 0.06  # of all uses of the word, whatever the part of speech
LEMMA = re.compile(r"[a-z]+(?:-[a-z]+)*\Z")
# Senses of these verbs that have an antonym ("be" as "equal") are too rare for such frequent words.
TOO_GENERAL = frozenset({"be", "have", "do", "get", "make", "go", "take", "set", "keep", "stay", "put", "run", "hold"})

Sense = tuple[str, int, int]  # part of speech, offset of the synset, number of the word in it


def read_ranks(folder: Path) -> dict[tuple[str, str, int], int]:
    """Sense number (1 is the most frequent) of a lemma by part of speech, lemma and synset offset."""
    ranks = {}
    for tag, name in FILES.items():
        for line in (folder / f"index.{name}").read_text("ascii").splitlines():
            if line.startswith(" "):
                continue
            parts = line.split()
            for number, offset in enumerate(parts[-int(parts[2]) :], 1):
                ranks[tag, parts[0], int(offset)] = number
    return ranks


def read_counts(folder: Path) -> tuple[Counter[tuple[str, str, int]], Counter[str]]:
    """How often a sense (part of speech, lemma, number) and a lemma occur in WordNet's tagged texts."""
    senses: Counter[tuple[str, str, int]] = Counter()
    lemmas: Counter[str] = Counter()
    for line in (folder / "cntlist.rev").read_text("ascii").splitlines():
        key, number, count = line.split()
        lemma, code = key.split("%", 1)
        senses["_nvara"[int(code[0])], lemma, int(number)] += int(count)
        lemmas[lemma] += int(count)
    return senses, lemmas


def read_synsets(
    folder: Path,
) -> tuple[dict[tuple[str, int], list[str]], list[tuple[str, Sense, Sense]]]:
    """The words of every synset in lower case, and every pointer with its source and target."""
    synsets = {}
    pointers = []
    for tag, name in FILES.items():
        for line in (folder / f"data.{name}").read_text("ascii").splitlines():
            if line.startswith(" "):
                continue
            parts = line.split(" | ", 1)[0].split()
            offset, count = int(parts[0]), int(parts[3], 16)
            words = [re.sub(r"\(\w+\)\Z", "", word).lower() for word in parts[4 : 4 + 2 * count : 2]]
            synsets[tag, offset] = words
            position = 4 + 2 * count
            for _ in range(int(parts[position])):
                symbol, target, target_tag, words_of = parts[position + 1 : position + 5]
                source_word, target_word = int(words_of[:2], 16), int(words_of[2:], 16)
                target_tag = "a" if target_tag == "s" else target_tag
                pointers.append((symbol, (tag, offset, source_word), (target_tag, int(target), target_word)))
                position += 4
    return synsets, pointers


class Lexicon:
    """The relations, each pair of words once."""

    def __init__(self, folder: Path) -> None:
        self.ranks = read_ranks(folder)
        self.sense_counts, self.lemma_counts = read_counts(folder)
        self.synsets, self.pointers = read_synsets(folder)
        self.folder = folder

    def word(self, sense: Sense) -> str:
        return self.synsets[sense[:2]][sense[2] - 1]

    def rank(self, tag: str, offset: int, word: str) -> int:
        """Sense number of ``word`` in a synset, ``RARE`` for a small share of the word's uses."""
        rank = self.ranks.get((tag, word, offset), RARE)
        total = self.lemma_counts[word]
        rare = total >= ENOUGH_USES and self.sense_counts[tag, word, rank] < MIN_SHARE * total
        return RARE if rare else rank

    def is_main(self, tag: str, offset: int, word: str) -> bool:
        """Whether this is the first sense of the word and occurs in WordNet's tagged texts."""
        return self.rank(tag, offset, word) == 1 and self.sense_counts[tag, word, 1] > 0

    def lexical_pairs(self, symbol: str, senses: int) -> set[tuple[str, str]]:
        """Pairs of words with a pointer between them, in senses numbered up to ``senses`` for both."""
        pairs = set()
        for kind, source, target in self.pointers:
            if kind != symbol or source[2] == 0 or target[2] == 0:
                continue
            one, other = self.word(source), self.word(target)
            if self.rank(*source[:2], one) <= senses and self.rank(*target[:2], other) <= senses:
                pairs.add((min(one, other), max(one, other)))
        return keep_lemmas(pairs)

    def antonyms(self) -> set[tuple[str, str]]:
        pairs = self.lexical_pairs("!", ANTONYM_SENSES)
        return {pair for pair in pairs if not TOO_GENERAL & set(pair) or pair in GENERAL_ANTONYMS}

    def synonyms(self) -> set[tuple[str, str]]:
        pairs = set()
        for (tag, offset), words in self.synsets.items():
            frequent = sorted({word for word in words if self.rank(tag, offset, word) <= SYNONYM_SENSES[tag]})
            pairs.update((one, other) for one in frequent for other in frequent if one < other)
        for kind, source, target in self.pointers:
            if kind == "&":
                for one in self.synsets[source[:2]]:
                    for other in self.synsets[target[:2]]:
                        if self.is_main(*source[:2], one) and self.is_main(*target[:2], other):
                            pairs.add((min(one, other), max(one, other)))
        return self.in_use(keep_lemmas(pairs)) - self.antonyms()

    def derived(self) -> set[tuple[str, str]]:
        return self.in_use(self.lexical_pairs("+", DERIVED_SENSES))

    def in_use(self, pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
        """The pairs of which a word occurs in WordNet's tagged texts; others are too rare to load."""
        return {pair for pair in pairs if any(self.lemma_counts[word] for word in pair)}

    def irregular(self, known: set[str]) -> set[tuple[str, str]]:
        pairs = set()
        for name in FILES.values():
            for line in (self.folder / f"{name}.exc").read_text("ascii").splitlines():
                form, *lemmas = line.split()
                pairs.update((form, lemma) for lemma in lemmas if lemma in known and form != lemma)
        return keep_lemmas(pairs)


GENERAL_ANTONYMS = frozenset(
    {("come", "go"), ("give", "take"), ("hold", "release"), ("keep", "lose"), ("leave", "stay")}
)


def keep_lemmas(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {pair for pair in pairs if pair[0] != pair[1] and all(map(LEMMA.match, pair))}


def section(name: str, pairs: set[tuple[str, str]]) -> list[str]:
    grouped = defaultdict(list)
    for one, other in sorted(pairs):
        grouped[one].append(other)
    return [f"[{name}]", *(f"{word}\t{' '.join(others)}" for word, others in grouped.items())]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with data.noun and its siblings")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    lexicon = Lexicon(arguments.folder)
    relations = {
        "antonyms": lexicon.antonyms(),
        "synonyms": lexicon.synonyms(),
        "derived": lexicon.derived(),
    }
    known = {word for pairs in relations.values() for pair in pairs for word in pair}
    relations["irregular"] = lexicon.irregular(known)
    lines = [line for name, pairs in relations.items() for line in section(name, pairs)]
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    # No time stamp, so that the same input gives the same bytes.
    arguments.output.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode("ascii"), 9, mtime=0))
    for name, pairs in relations.items():
        print(f"{name}: {len(pairs)} pairs")
    print(f"{arguments.output}: {arguments.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
