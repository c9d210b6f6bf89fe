"""Basque cues."""

from rag_guard.text.lexicons.cues import Lexicon

LEXICON = Lexicon(
    language="eu",
    hesitations="zalantzarik",
    addressees="zu zuk",
    courtesy="""kaixo egun_on arratsalde_on gabon ongi_etorri noski jakina bai_noski ziur ados ok
        eskerrik_asko mesedez barkatu barkamena sentitzen pozik laguntzeko lagunduko lagundu laguntza
        espero zalantza galdetu galdera galderak agur on_egin plazera""",
    lead_ins="""hona hemen honako hauek ondoren jarraian behean erantzuna erantzun laburpena zerrenda
        urratsak azalpena adibidea adibideak oharra arauak ondorioa labur puntuak""",
    glue="""hau hori hura hauek horiek honek horrek bat batzuk da dira zen ziren izan dut duzu du dute
        dugu nuen zuen dago daude daiteke ahal nahi behar baduzu baldin eta edo zer nor non noiz nola
        zergatik zein zeintzuk ni nik nire niri zu zuk zure zuri gu guk gure bere haien gehiago beste
        besterik ere oso dena oraindik orain une begiratu begiratuko egiaztatu bilatu aurkitu eman
        jakin egin zehatz zehatza zehatzik zehazki espresuki zuzenean argi nahikoa zoritxarrez hala
        posible buruz inguruan ari naiz zara gara dizut zait dit inon dagoen diren den""",
    sources="""testu* pasarte* testuinguru* dokumentu* iturri* artikulu* zati zatian zatiak zatietan
        material* eduki edukia edukiak edukian erreferentzia* paragrafo*""",
    framing="""arabera oinarritu* oinarri oinarrituta emandako emanda emaniko eskainitako eskuragarri
        aurreko goiko""",
    speakers="ni nik niri guk gu dut",
    negations="ez ezer inor inoiz gabe ezin falta ezta ezein",
    inability="ezin ezinezkoa ez_da_posible ez_nago_ziur ezin_dut ezin_da",
    unknowing="ezezaguna ezezagun ezjakina zalantzazkoa",
    knowledge="""daki dakit jakin jakitea ezagutzen ezaguna aipatzen aipatu aipatuta aipatua aipatzea
        zehazten zehaztu zehaztuta adierazten adierazi esaten esan jasotzen jaso ematen eman emanten
        erantzun erantzuten erantzuteko deskribatzen azaltzen agertzen ageri agertu aurkitu aurkitzen
        dio diote diot dauka daukat dut du ditu dute badu barne dago biltzen baieztatu zehaztea
        eskaintzen""",
    information="""informazio informazioa informaziorik informazioarekin datu datua datuak daturik
        xehetasun xehetasunik xehetasunak erantzun erantzuna erantzunik aipamen aipamenik data zenbaki
        zenbakirik izena azalpen azalpenik""",
    own_knowledge="dakit ezagutzen",
    assistance="lagundu laguntzea",
    adversatives="baina aldiz ordea",
    conjunctions="eta bitartean",
    concessives="nahiz arren",
    subjects="hura hau hori ni gu haiek hauek",
    auxiliaries="da dira zen ziren du dute zuen ditu daiteke dago daude",
    how_many="zenbat",
    when="noiz zein_urtetan zer_urtetan zer_ordutan",
    who="nor nork zeinek",
    where="non nora nondik",
    what="zer zein",
    why="zergatik nola",
    verdicts="bai ez egia gezurra zuzena",
    postposed=True,
)
