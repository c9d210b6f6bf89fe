"""German cues."""

from rag_guard.text.lexicons.cues import Lexicon

LEXICON = Lexicon(
    language="de",
    hesitations="zögern zögere zögert",
    addressees="du ihr man sie",
    courtesy="""hallo hi guten_tag guten_morgen guten_abend willkommen klar natürlich selbstverständlich
        sicher gerne gern okay ok danke vielen_dank bitte entschuldigung entschuldige entschuldigen
        verzeihung leid freue freut hilft helfen helfe hilfe geholfen hilfreich behilflich hoffe
        zögern fragen frage melden melde wenden gruß grüße tschüss schön gute_frage fragst stehe
        verfügung""",
    lead_ins="""hier folgend folgende folgenden folgendes folgt unten nachfolgend antwort antworten
        zusammenfassung überblick übersicht liste schritte erklärung beispiel beispiele hinweis
        hinweise regeln fazit kurz zusammengefasst punkte insgesamt anleitung tipps""",
    glue="""geht ging der die das den dem des ein eine einen einem einer eines dieser diese dieses diesen
        diesem dazu darüber davon dafür damit daraus es ihr ihre ihren ihnen sie dir dich du dein
        deine deiner deinen euch mich mir mein meine wir uns unser unsere ist sind war waren sein seid
        wird werden wurde wurden habe haben hat hatte kann können könnte könnten möchte möchten
        möchtest soll sollte darf muss würde lass lassen mal von vom zu zum zur in im an am auf aus
        bei mit für über um und oder wenn falls dass ob als wie was welche welcher welches wer wo wann
        warum noch mehr weitere weiteren weiterer weiteres brauchen brauchst benötigen benötigst
        wissen jederzeit einfach so auch nur sehr genau genaue genauen genauer konkret konkrete
        konkreten explizit ausdrücklich direkt leider allerdings jedoch etwas andere anderen dort
        darin hierzu hierüber hinsichtlich bezüglich gibt geben gebe sehen schauen schaue nachsehen
        nachschauen prüfen prüfe ausreichend ausreichende genug genügend möglich sich zu_diesem
        zu_dieser je irgendwelche ihm man da nun jetzt wohl""",
    sources="""text texte texten textes passage passagen textpassage* abschnitt abschnitte abschnitten
        kontext kontexte dokument dokumente dokumenten dokuments dokumentes quelle quellen artikel
        artikels artikeln auszug auszüge auszügen material materialien unterlage unterlagen
        textauszug* textabschnitt* quelltext* inhalt inhalte suchergebnis* textstelle*""",
    framing="""basierend grundlage basis laut gemäß gemäss nach zufolge aufgrund anhand bereitgestellt*
        gegebenen gegebene gegebener angegebenen angegebene vorliegend* zur_verfügung_gestellt*
        verfügbar* obigen obige vorhandenen vorhanden genannten bezug""",
    speakers="ich wir mir uns mich",
    negations="""nicht kein keine keinen keinem keiner keines keinerlei nichts nie niemals ohne weder
        nirgends nirgendwo fehlt fehlen unzureichend*""",
    inability="""unmöglich nicht_möglich kann_nicht kann_ich_nicht außerstande nicht_in_der_lage
        nicht_sicher unsicher kann_ich_leider_nicht kann_leider_nicht lässt_sich_nicht können_nicht""",
    unknowing="unbekannt unklar ungewiss offen unerwähnt",
    knowledge="""weiß wissen weiss kenne kennen erwähnt erwähnen erwähne erwähnung genannt nennt nennen
        gesagt sagt sagen steht stehen angegeben gibt angeben enthält enthalten beinhaltet beinhalten
        beantworten beantwortet antworten bekannt beschreibt beschrieben beschreiben erklärt erläutert
        bestimmen bestimmt feststellen ermitteln finden findet gefunden entnehmen entnommen hervor
        hervorgeht ersichtlich aufgeführt liefert liefern bietet bieten macht gemacht thematisiert
        behandelt ableiten verfügbar vorhanden vor aussage mitgeteilt spezifiziert aufgelistet
        nachweisen bestätigen geklärt präzisiert""",
    information="""information informationen info infos angabe angaben antwort antworten auskunft details
        detail daten hinweis hinweise aussage aussagen erwähnung zahl datum name erklärung
        informationsgrundlage""",
    assistance="helfen weiterhelfen behilflich unterstützen",
    adversatives="aber jedoch doch sondern allerdings hingegen dagegen",
    conjunctions="und während so",
    concessives="obwohl während wenngleich zwar auch_wenn",
    complementizers="dass daß ob",
    subjects="ich er sie es wir ihr man das dies diese dieser dieses dort die der",
    auxiliaries="""ist sind war waren hat haben hatte hatten wird werden wurde wurden kann können konnte
        konnten muss müssen soll sollen darf dürfen beträgt liegt gibt""",
    how_many="""wie_viel wie_viele wieviel wieviele wie_lange wie_lang wie_alt wie_groß wie_hoch wie_tief
        wie_weit wie_oft wie_teuer wie_breit wie_schwer""",
    when="""wann in_welchem_jahr welches_jahr um_wie_viel_uhr an_welchem_tag welches_datum seit_wann
        bis_wann in_welchem_monat""",
    who="wer wem wen wessen",
    where="wo wohin woher",
    what="was welche welcher welches welchen",
    why="warum weshalb wieso wie",
    verdicts="ja nein doch richtig falsch wahr stimmt",
    postposed=True,
    sayings="erwähnt genannt angegeben beschrieben thematisiert erläutert",
)
