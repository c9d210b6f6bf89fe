"""Small cue lexicons, one module per language: what filler, abstentions, clauses and questions are made of.

A lexicon holds words by their function, never whole sentences: a sentence is filler because all of its
words are cues and none can be checked, and an abstention because a negation governs a verb of knowing with
a source or the speaker as its subject. Entries are in normal form (see
:func:`rag_guard.text.words.normalize`), separated by white space; ``_`` stands for a space inside a phrase;
a trailing ``*`` makes an entry a prefix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module

from rag_guard.text.words import normalize

LANGUAGES = ("ar", "ca", "cs", "de", "en", "es", "eu", "fa", "fi", "fr", "hi", "it", "ja", "sv", "zh")
"""Languages with a lexicon: those of Mu-SHROOM, and Japanese."""

_SHORT = 80
_SAMPLE = 200
_LATIN = ("en", "de", "fr", "es", "it", "ca", "sv", "fi", "cs", "eu")


class Cues:
    """A set of words, prefixes and phrases, written as one string."""

    def __init__(self, entries: str) -> None:
        items = [_normal(entry) for entry in entries.split()]
        self.entries = tuple(dict.fromkeys(items))
        self.words = frozenset(item for item in items if not item.endswith("*") and " " not in item)
        self.prefixes = tuple(item[:-1] for item in items if item.endswith("*"))
        self.phrases = tuple(item for item in items if " " in item)

    def __contains__(self, norm: object) -> bool:
        return isinstance(norm, str) and (
            norm in self.words or (bool(self.prefixes) and norm.startswith(self.prefixes))
        )


def _normal(entry: str) -> str:
    return " ".join(map(normalize, entry.split("_")))


@dataclass(frozen=True)
class Lexicon:
    """The cues of one language; every field is a string in the format of the module docstring.

    Attributes:
        language: ISO 639-1 code.
        courtesy: greetings, assents, thanks, apologies, offers of help: words that make a sentence filler.
        lead_ins: words that announce what follows (here, below, summary, answer).
        glue: function words that filler and abstentions share; no negation is among them.
        sources: nouns for what was retrieved (text, passage, context).
        framing: words that tie a statement to its source (based, according, given, provided).
        speakers: the answering speaker.
        negations: not, no, without.
        inability: unable, cannot, impossible: a negation that needs no subject.
        unknowing: words that are an abstention by themselves once a source or nothing else is around
            (unknown).
        knowledge: verbs of knowing, saying, containing and finding, in the forms that a negation governs.
        sayings: the participles among them that only a text can be the agent of: of "the price is not mentioned" the
            documents are the agent, of "breakfast is not included" they are not.
        own_knowledge: first-person forms in languages that drop the pronoun, governed by a negation (sé, so).
        information: nouns for the thing not known (information, details, answer).
        assistance: verbs of helping; with an inability they refuse.
        hesitations: verbs that politeness negates (don't hesitate).
        addressees: the person spoken to, or anybody (you, one).
        adversatives: conjunctions that oppose two clauses.
        conjunctions: other conjunctions that join two clauses.
        concessives: conjunctions that open a subordinate clause to be opposed (although, while).
        complementizers: conjunctions that open a reported statement (that).
        subjects: pronouns and the like that start a clause.
        auxiliaries: finite auxiliaries and copulas.
        how_many, when, who, where, what, why: question words by the type of answer that they ask for.
        verdicts: yes and no, which answer a question by themselves.
        spaced: whether the language puts spaces between words.
        elisions: whether an apostrophe joins two words (l'information).
        postposed: whether a negation may follow the verb that it negates (weiß nicht).
    """

    language: str
    courtesy: str
    lead_ins: str
    glue: str
    sources: str
    framing: str
    speakers: str
    negations: str
    inability: str
    unknowing: str
    knowledge: str
    information: str
    sayings: str = ""
    own_knowledge: str = ""
    assistance: str = ""
    hesitations: str = ""
    addressees: str = ""
    adversatives: str = ""
    conjunctions: str = ""
    concessives: str = ""
    complementizers: str = ""
    subjects: str = ""
    auxiliaries: str = ""
    how_many: str = ""
    when: str = ""
    who: str = ""
    where: str = ""
    what: str = ""
    why: str = ""
    verdicts: str = ""
    spaced: bool = True
    elisions: bool = False
    postposed: bool = False

    @cached_property
    def _cues(self) -> dict[str, Cues]:
        return {}

    def cues(self, name: str) -> Cues:
        """The compiled cues of one field."""
        cues = self._cues.get(name)
        if cues is None:
            cues = self._cues[name] = Cues(getattr(self, name))
        return cues


@cache
def lexicon(language: str) -> Lexicon | None:
    """The lexicon of an ISO 639-1 language, or None where there is none."""
    if language not in LANGUAGES:
        return None
    found: Lexicon = import_module(f"{__name__}.{language}").LEXICON
    return found


def candidates(language: str | None, text: str) -> tuple[Lexicon, ...]:
    """The lexicons worth trying on ``text``: its language's and English; more if the language is not sure.

    English is always among those of a Latin text, since chatty phrases come in English around answers in
    any language. Of a text too short to tell its language, all languages of its script are tried.
    """
    names: tuple[str, ...]
    if _is_latin(text):
        known = (language, "en") if language in LANGUAGES else ("en",)
        names = known if len(text) > _SHORT and language is not None else (*known, *_LATIN)
    elif language in LANGUAGES:
        names = (language,)
    elif any("\u3040" <= char <= "\u30ff" for char in text):
        names = ("ja",)
    elif any("\u4e00" <= char <= "\u9fff" for char in text):
        names = ("zh", "ja")
    elif any("\u0900" <= char <= "\u097f" for char in text):
        names = ("hi",)
    else:
        names = ("ar", "fa")
    return tuple(found for found in map(lexicon, dict.fromkeys(names)) if found is not None)


def _is_latin(text: str) -> bool:
    return text.isascii() or not any("\u0590" <= char <= "\u0dff" or char >= "\u3040" for char in text[:_SAMPLE])
