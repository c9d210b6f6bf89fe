"""Finnish cues."""

from rag_guard.text.lexicons.cues import Lexicon

LEXICON = Lexicon(
    language="fi",
    hesitations="epäröi epäröikö",
    addressees="sinä te",
    courtesy="""hei moi terve huomenta päivää tervetuloa totta_kai toki tietenkin varmasti ehdottomasti
        selvä ok kiitos kiitoksia anteeksi pahoittelen pahoittelut valitan mielelläni mielellään
        iloinen autan auttaa auttamaan auttamassa apua avuksi avusta toivottavasti toivon epäröi kysy
        kysyä kysyttävää kysymys kysymyksiä terveisin näkemiin hyvä_kysymys hyödyksi""",
    lead_ins="""tässä seuraavat seuraava seuraavassa alla vastaus vastaukset yhteenveto yhteenvetona lista
        luettelo vaiheet selitys esimerkki esimerkkejä huomautus säännöt johtopäätös lyhyesti kohdat""",
    glue="""se ne tämä tämän tätä tässä tästä nämä näiden sen siitä siinä siihen niistä niiden on ovat oli
        olivat olla ollut ole olen olet olisi voi voin voit voisi voida voidaan voitaisiin pitää
        täytyy haluat haluaa haluaisit tarvitset tarvitsee minä minun minua minulla sinä sinun sinua
        sinulla te teidän me meidän hän hänen jos kun kuin ja tai että mikä mitä missä milloin kuka
        miksi miten kuinka joka jota jotka jotain muuta muita lisää vielä myös hyvin vain nyt hetki
        hetken anna antaa katson katsoa tarkistaa tarkistan etsiä löytää tietää tehdä tarkka tarkkaa
        tarkasti tarkempaa suoraan nimenomaisesti erityisesti selvästi riittävästi tarpeeksi riittävää
        valitettavasti kuitenkaan kuitenkin mahdollista liittyen koskien perusteella mukaan mistään
        kohdassa lainkaan""",
    sources="""tekst* kappale* kohda* katkelma* konteksti* asiayhtey* dokumentti* dokumente* dokumenti*
        asiakirj* lähde* lähte* lähtei* artikkeli* artikkele* ote otteet otteissa otteessa otteen
        materiaali* aineisto* sisältö* sisällö*""",
    framing="""perusteella mukaan pohjalta nojalla annet* annetu* tarjot* käytettävissä saatavilla
        saatavissa yllä edellä olevan olevien mainit* perustuen""",
    speakers="minä minun minulla minua me meillä",
    negations="""ei en emme eivät et ette eikä ilman mikään mitään kukaan puuttuu puuttuvat riittämätön
        riittämättömät""",
    inability="""mahdotonta en_voi en_pysty ei_voi ei_voida ei_ole_mahdollista en_ole_varma en_osaa
        ei_pysty en_kykene""",
    unknowing="tuntematon epäselvää epäselvä epävarmaa",
    knowledge="""tiedä tiedetä tietää tiedossa mainita mainitse mainittu mainitaan mainintaa kerro kerrota
        kerrottu kertoa sano sanota sanottu sanoa ilmoiteta ilmoita ilmoitettu ilmene sisällä sisältää
        sisälly anna annetaan anneta annettu vastaa vastata vastausta kuvaa kuvata kuvattu määrittää
        määritellä määritelty löydy löydä löytää löytynyt selviä selvitä selvitetä selitä selitetä
        käsittele käsitellä tarjoa osaa vahvistaa päätellä saatavilla ilmaista käy""",
    information="""tieto tietoa tietoja tiedot tietojen vastaus vastausta yksityiskohtia yksityiskohta
        maininta mainintaa data päivämäärä* numero* luku* nimi nimeä selitys selitystä viittausta""",
    own_knowledge="tiedä osaa löydä pysty",
    assistance="auttaa",
    adversatives="mutta kuitenkin vaan",
    conjunctions="ja kun",
    concessives="vaikka",
    complementizers="että",
    subjects="minä hän se me he ne tämä nämä joka",
    auxiliaries="on ovat oli olivat voi voivat pitää maksaa",
    how_many="""kuinka_monta kuinka_paljon montako kuinka_kauan kuinka_pitkä kuinka_vanha kuinka_korkea
        kuinka_syvä kuinka_usein miten_monta paljonko""",
    when="milloin koska minä_vuonna mihin_aikaan minä_päivänä mikä_vuosi",
    who="kuka ketkä kenen ketä",
    where="missä mihin mistä",
    what="mikä mitä mitkä",
    why="miksi miten",
    verdicts="kyllä ei joo oikein väärin totta",
    sayings="mainittu mainita kerrottu ilmoitettu",
)
