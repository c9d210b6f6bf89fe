"""Words that turn a statement around, by language. Suffix and prefix negation is left to the antonym relations."""

from __future__ import annotations

NEGATIONS: dict[str, frozenset[str]] = {
    "en": frozenset(
        """not no never none neither nor without cannot n't isn't aren't wasn't weren't hasn't haven't hadn't doesn't
        don't didn't won't wouldn't shan't shouldn't can't couldn't mustn't fails failed fail lacks lack lacked lacking
        isnt arent wasnt werent doesnt dont didnt wont cant couldnt nobody nothing nowhere hardly barely""".split()
    ),
    "de": frozenset("nicht kein keine keinen keinem keiner keines nie niemals ohne weder niemand nichts".split()),
    "fr": frozenset("ne n' pas jamais aucun aucune sans ni rien personne non".split()),
    "es": frozenset("no nunca jamás ningún ninguna ninguno sin ni nadie nada tampoco".split()),
    "it": frozenset("non mai nessun nessuno nessuna senza né niente nulla".split()),
    "ca": frozenset("no mai cap sense ni ningú res tampoc".split()),
    "sv": frozenset("inte ej aldrig ingen inget inga utan varken icke".split()),
    "cs": frozenset("ne není nebyl nebyla nebylo nebyly nikdy žádný žádná žádné bez ani nikdo nic nemá nemají".split()),
    "fi": frozenset("ei en et emme ette eivät eikä ilman koskaan älä".split()),
    "eu": frozenset("ez inoiz gabe inor ezer".split()),
    "ar": frozenset("لا لم لن ليس ليست ما غير بدون دون".split()),
    "fa": frozenset("نه نیست نبود نشد ندارد نکرد هرگز بدون هیچ نمی".split()),
    "hi": frozenset("नहीं न मत बिना कभी".split()),
    "zh": frozenset(["不", "没", "无", "未", "非", "否"]),
    "ja": frozenset(["ない", "なかった", "ません", "ませんでした", "なく", "ず", "無", "未", "不"]),
    "pt": frozenset("não nunca jamais nenhum nenhuma sem nem ninguém nada".split()),
    "nl": frozenset("niet geen nooit zonder noch niemand niets".split()),
}
"""Case-folded normal forms; for Chinese and Japanese single characters or Kana runs."""

CONTRASTS: dict[str, frozenset[str]] = {
    "en": frozenset("but while although though however whereas yet except instead".split()),
    "de": frozenset("aber sondern während obwohl jedoch außer doch".split()),
    "fr": frozenset("mais tandis cependant toutefois sauf".split()),
    "es": frozenset("pero sino mientras aunque salvo excepto".split()),
    "it": frozenset("ma mentre però tuttavia tranne bensì".split()),
    "ca": frozenset("però sinó mentre encara tret".split()),
    "sv": frozenset("men medan utan dock förutom".split()),
    "cs": frozenset("ale avšak zatímco však kromě".split()),
    "fi": frozenset("mutta vaan kun taas kuitenkin paitsi".split()),
    "eu": frozenset("baina baizik bitartean ordea".split()),
    "pt": frozenset("mas enquanto embora porém exceto".split()),
    "nl": frozenset("maar terwijl hoewel echter behalve".split()),
}
"""Words that end the reach of a negation."""
