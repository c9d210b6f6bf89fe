"""Pronouns that stand for an entity named before, by language; they open a sentence whose subject is elsewhere."""

from __future__ import annotations

PRONOUNS: dict[str, frozenset[str]] = {
    "en": frozenset("he she it they him her his hers its their theirs them this these".split()),
    "de": frozenset("er sie es ihr ihre ihren ihm ihn sein seine seinen dieser diese dieses".split()),
    "fr": frozenset("il elle ils elles lui leur leurs son sa ses celui-ci celle-ci ce cette ces".split()),
    "es": frozenset("él ella ellos ellas su sus este esta estos estas le les".split()),
    "it": frozenset("egli ella esso essa essi esse lui lei loro suo sua suoi sue questo questa".split()),
    "ca": frozenset("ell ella ells elles seu seva seus seves aquest aquesta".split()),
    "sv": frozenset("han hon den det de dem hans hennes dess deras denna detta".split()),
    "cs": frozenset("on ona ono oni ony jeho její jejich tento tato toto".split()),
    "fi": frozenset("hän se he ne hänen sen heidän niiden tämä nämä".split()),
    "eu": frozenset("hura bera haiek beraiek haren bere hori hau".split()),
    "ar": frozenset("هو هي هم هن هما هذا هذه".split()),
    "fa": frozenset("او آن آنها ایشان این وی".split()),
    "hi": frozenset("वह वे यह ये उसका उसकी उसके उनका उनकी उनके".split()),
    "zh": frozenset(["他", "她", "它", "他们", "她们", "它们", "其", "该"]),
    "ja": frozenset(["彼", "彼女", "彼ら", "それ", "これ", "同"]),
    "pt": frozenset("ele ela eles elas seu sua seus suas este esta".split()),
    "nl": frozenset("hij zij ze het hem haar zijn hun deze dit".split()),
}
