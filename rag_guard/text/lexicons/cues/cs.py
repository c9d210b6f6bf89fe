"""Czech cues."""

from rag_guard.text.lexicons.cues import Lexicon

LEXICON = Lexicon(
    language="cs",
    hesitations="váhejte váhej",
    addressees="vy ty",
    courtesy="""ahoj dobrý_den dobré_ráno dobrý_večer vítejte jistě samozřejmě určitě rozhodně dobře ok
        děkuji díky prosím promiňte promiň omlouvám omluva lituji rád ráda pomohu pomoci pomohl
        pomohla pomůže pomáhat pomohlo pomoct pomůžu doufám neváhejte neváhej zeptat ptát otázka
        otázky otázek dotaz dotazy pozdravem nashledanou skvělá_otázka potěšení užitečné""",
    lead_ins="""zde následující následujících níže odpověď odpovědi shrnutí přehled seznam kroky
        vysvětlení příklad příklady poznámka pravidla závěr stručně body""",
    glue="""ten ta to ti ty tyto tento tato toto těchto tohoto této tomu tom tím já mi mě mne můj moje
        jsem jste jsi je jsou byl byla bylo byly být bude budou by byste bych má mají mám máte mohu
        mohl může můžete lze chcete chceš potřebujete potřebuješ vám vás váš vaše tobě tvé on ona ono
        jeho její my nás nám a i nebo že zda jestli co kdo jak kde kdy proč který která které kteří
        jaký jaká jaké v ve na z ze do od k ke s se si o u pro při po za pokud další dalších více něco
        jiného ještě také velmi jen nyní teď chvíli podívám podívat zkontrolovat najít dát vědět
        udělat konkrétní konkrétně přesný přesně přesné výslovně přímo jasně dostatek dostatečné
        bohužel však možné ohledně týkající žádost rovněž""",
    sources="""text textu textech texty textů pasáž pasáže pasáži pasážích kontext kontextu kontextech
        dokument dokumentu dokumenty dokumentech dokumentů zdroj zdroje zdroji zdrojích zdrojů článek
        článku články článcích úryvek úryvku úryvky úryvcích materiál* obsah obsahu odstavec odstavci
        odstavce podklad*""",
    framing="""podle základě poskytnut* dané daného daných uveden* dostupn* výše vychází předložen*
        poskytují""",
    speakers="já mi mě jsem my",
    negations="""ne není nejsou nebyl nebyla nebylo nebyly žádný žádná žádné žádnou žádného žádných nic
        nikde nikdy bez ani nemá nemají nemám chybí nedostatek nedostatečné nelze nemohu""",
    inability="""nelze nemohu nemůžu nemůžeme nemůže není_možné nemožné nejsem_schopen nejsem_si_jist
        nejsem_si_jistý nedokážu""",
    unknowing="""neznámý neznámá neznámé neznámo nejasné nejisté neví nevím nevíme neznám neuvádí
        neuvádějí neuvedeno neuveden neuvedena neuvedeny neobsahuje neobsahují nezmiňuje nezmiňují
        nezmiňuji nezmíněno nezmíněn neříká neříkají neposkytuje neposkytují neuvádím neodpovídá
        neodpovídají nepopisuje nespecifikuje nenašel nenašla nenalezl neurčuje""",
    knowledge="""známo znám ví vím uvedeno uveden uvedena uvedeny uvádí uvádějí zmíněno zmíněn zmíněna
        zmiňuje řečeno říci říká obsahuje obsahují odpovědět odpovídá odpověď zodpovědět určit zjistit
        najít nalezena nalezeno nalezeny popsáno popsán vysvětleno poskytuje poskytnout potvrdit
        k_dispozici dostupné dostupná specifikováno stanovit""",
    information="""informace informací informaci informacím údaj údaje údajů odpověď odpovědi podrobnosti
        zmínka zmínky zmínku data datum číslo jméno vysvětlení detaily""",
    assistance="pomoci pomoct",
    adversatives="ale však avšak nicméně",
    conjunctions="a zatímco",
    concessives="ačkoli ačkoliv přestože zatímco i_když",
    complementizers="že zda",
    subjects="já on ona ono my oni to tento tato toto který která které",
    auxiliaries="""je jsou byl byla bylo byly má mají měl měla může mohou bude budou musí stojí měří""",
    how_many="kolik jak_dlouho jak_dlouhý jak_vysoký jak_vysoká jak_starý jak_často jak_velký",
    when="kdy v_kterém_roce ve_kterém_roce v_jakém_roce který_rok kterého_dne v_kolik",
    who="kdo koho komu",
    where="kde kam odkud",
    what="co jaký jaká jaké který která které",
    why="proč jak",
    verdicts="ano ne pravda nepravda správně",
    sayings="zmíněno zmíněna zmíněn uvedeno uvedena uveden specifikováno",
)
