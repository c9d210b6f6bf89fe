"""Closed-class words: they carry grammar, not facts, so they are never mentions and weigh nothing in matching.

English has a list of its own, since the usual stop-word lists were made for search engines and also drop numbers,
opposites and common nouns. The other languages take the ISO stop-word collection.
"""

from __future__ import annotations

from functools import cache

_ENGLISH = frozenset(
    """a an the this that these those such same own
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves one's who whom whose which what whoever whatever whichever
    somebody someone something anybody anyone anything everybody everyone everything
    and or but nor so yet if then else because although though while whereas unless until since as than whether
    of at by for with about into through during to from in on onto upon off over under out up down within without
    along across behind beyond toward towards via per amid among between against around
    after before above below near
    am is are was were be been being have has had having do does did doing done will would shall should can could may
    might must ought cannot get gets got getting gotten
    'm 're 's 've 'd 'll i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd
    they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't
    won't wouldn't shan't shouldn't can't couldn't mustn't let's that's who's what's here's there's when's where's why's
    how's ain't isnt arent wasnt doesnt dont didnt wont cant couldnt
    no not none neither never nothing nobody nowhere
    when where why how here there now once again further also too very just only even still ever already quite rather
    really mostly mainly often sometimes usually generally typically overall however therefore thus hence moreover
    furthermore additionally meanwhile otherwise instead besides indeed
    all any both each every few more most other others another some several many much less least lot lots various
    etc eg ie vs please
    later earlier finally eventually subsequently afterwards soon recently currently initially originally
    well like including according based regarding due despite upon
    said say says make makes made making take takes took taken go goes went gone going come comes came coming
    give gives gave given giving become becomes became let lets put puts use uses used using
    thing things way ways able unable
    mentioned given described stated noted following above-mentioned""".split()
)


@cache
def function_words(language: str | None) -> frozenset[str]:
    """Case-folded function words of a language (ISO 639-1); empty where none are known."""
    if language == "en":
        return _ENGLISH
    if language is None:
        return frozenset()
    import stopwordsiso

    if not stopwordsiso.has_lang(language):
        return frozenset()
    return frozenset(word.casefold() for word in stopwordsiso.stopwords(language))
