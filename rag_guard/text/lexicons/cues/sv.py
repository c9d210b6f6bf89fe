"""Swedish cues."""

from rag_guard.text.lexicons.cues import Lexicon

LEXICON = Lexicon(
    language="sv",
    hesitations="tveka",
    addressees="du ni man",
    courtesy="""hej hejsan god_dag god_morgon god_kväll välkommen självklart absolut visst javisst
        givetvis naturligtvis okej ok gärna tack förlåt ursäkta ledsen beklagar glad hjälpa hjälper
        hjälp hjälpte hoppas tveka fråga frågor frågan höra hör hälsningar hejdå nöje bra_fråga""",
    lead_ins="""här följer följande nedan svar svaret sammanfattning sammanfattningsvis översikt lista
        steg förklaring exempel notera regler slutsats kort punkter""",
    glue="""den det de dem en ett denna detta dessa som om i på av till från för med vid hos och eller att
        vad vem vilken vilket vilka hur när var varför är vara varit blir blev har hade ha kan kunde
        ska skulle vill behöver måste får jag mig min mitt mina du dig din ditt dina ni er vi oss vår
        vårt någon något några mer mera annat andra ytterligare fler också även så mycket gärna bara
        låt se titta kolla leta hitta ge veta göra specifik specifikt specifika uttryckligen direkt
        exakt exakta tydligt tillräckligt tillräcklig tyvärr dock möjligt angående gällande nu stund
        finns däri därom hennes hans sig utifrån ut""",
    sources="""text texten texter texterna textens stycke stycket stycken avsnitt avsnittet passage
        passagen passager passagerna kontext kontexten sammanhang sammanhanget dokument dokumentet
        dokumenten dokumentens källa källan källor källorna artikel artikeln artiklar artiklarna
        utdrag utdraget utdragen material materialet innehåll innehållet""",
    framing="""enligt baserat utifrån grundval angivna angivet givna givet tillhandahållna tillhandahållen
        tillhandahållet tillgängliga tillgänglig tillgängligt ovan ovanstående""",
    speakers="jag vi mig oss",
    negations="""inte ej icke ingen inget inga aldrig utan ingenting varken saknas saknar otillräcklig
        otillräckligt ingenstans""",
    inability="""omöjligt kan_inte kan_jag_inte inte_möjligt inte_säker går_inte går_det_inte oförmögen
        kunde_inte kunde_jag_inte""",
    unknowing="okänt okänd okända oklart osäkert ovisst",
    knowledge="""vet veta känner nämner nämns nämnts nämna anger anges angivet angivits säger sägs säga
        står innehåller innehålla inkluderar ger ges ge svara svarar svarat besvara besvaras besvarar
        beskriver beskrivs beskriva bestämma avgöra fastställa hitta hittar hittade hittades finns
        finna framgår förklarar förklaras tar specificerar specificeras tillhandahåller bekräfta känt
        redovisas tillgänglig tillgängligt berättar utläsa omnämns""",
    information="""information informationen info uppgift uppgifter uppgiften detaljer detalj svar svaret
        data omnämnande datum antal nummer namn siffra förklaring""",
    assistance="hjälpa assistera",
    adversatives="men dock däremot utan",
    conjunctions="och medan så",
    concessives="även_om trots fastän medan",
    complementizers="att om",
    subjects="jag han hon den det vi ni de man detta denna dessa som",
    auxiliaries="är var har hade kan kunde ska skulle blir blev måste får kostar finns",
    how_many="""hur_många hur_mycket hur_länge hur_lång hur_långt hur_gammal hur_hög hur_högt hur_djup
        hur_stor hur_ofta""",
    when="när vilket_år vilket_datum vilken_dag vilken_tid hur_dags",
    who="vem vilka",
    where="var vart",
    what="vad vilken vilket",
    why="varför hur",
    verdicts="ja nej jo sant falskt rätt fel",
    postposed=True,
    sayings="nämnd nämnt nämns angivet angiven anges beskrivs specificerat",
)
