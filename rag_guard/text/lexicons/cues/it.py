"""Italian cues."""

from rag_guard.text.lexicons.cues import Lexicon

LEXICON = Lexicon(
    language="it",
    hesitations="esitare esita esiti esitate",
    addressees="lei tu voi si",
    courtesy="""ciao salve buongiorno buonasera benvenuto benvenuta certo certamente naturalmente
        assolutamente volentieri ok va_bene grazie scusa scusi scusate spiacente dispiace piacere
        felice lieto lieta aiutare aiutarti aiutarla aiuti aiuto spero esitare esita domanda domande
        chiedere saluti arrivederci utile buona_domanda prego""",
    lead_ins="""ecco seguito seguente seguenti sotto risposta risposte riassunto sintesi elenco lista
        passi passaggi spiegazione esempio esempi nota regole conclusione breve punti""",
    glue="""il lo la i gli le l un uno una dell del dello della dei degli delle di d da dal dalla dai in
        nel nello nella nei negli nelle nell con su sul sulla sui sulle per tra fra e ed o che chi cui
        quale quali qual come quando dove perché cosa cos si mi ti vi ci ne io tu lei noi voi loro mio
        mia tuo tua suo sua vostro vostra nostro questo questa questi queste quest quello quella ciò è
        sono era erano essere stato stata stati fu ha hanno ho hai aveva avere posso può possono
        possiamo potrebbe devo deve vuoi vuole bisogno se più altro altra altri altre ulteriori
        ulteriore anche molto tutto ancora qualsiasi qualche lasciami fammi vedere controllare
        verificare cercare trovare dare sapere fare specifico specifica specifiche specifici
        esplicitamente direttamente esatta esatto esattamente chiaramente sufficiente sufficienti
        abbastanza purtroppo tuttavia possibile riguardo merito proposito momento ora alla al allo
        alle agli ai a ad all""",
    sources="""testo testi brano brani passaggio passaggi contesto contesti documento documenti fonte
        fonti articolo articoli estratto estratti materiale materiali contenuto riferimento
        riferimenti paragrafo paragrafi""",
    framing="""secondo base basandomi basato basata fornito fornita forniti fornite dato data dati date
        disponibile disponibili precedente sopra partire proposti presentati""",
    speakers="io mi noi ci",
    negations="""non nessun nessuna nessuno niente nulla mai senza né manca mancano insufficiente
        insufficienti""",
    inability="""impossibile incapace non_posso non_è_possibile non_sono_sicuro non_sono_in_grado
        non_si_può non_può""",
    unknowing="sconosciuto sconosciuta ignoto ignota ignoro incerto",
    knowledge="""so sa sapere sappiamo conosco menziona menzionano menzionato menzionata menzionati
        menzionare specifica specificano specificato specificata indica indicano indicato indicata
        dice dicono detto dire contiene contengono contenere include includono fornisce forniscono
        fornito fornita fornire dà danno offre rispondere risponde risposto descrive descrivono
        determinare trova trovato trovare riporta riportano riportato riportata cita citato citata
        presente presenti noto nota spiega rivela confermare ho dispongo disponibile disponibili
        precisa precisato stabilire tratta parla consente""",
    information="""informazione informazioni info dato dati dettaglio dettagli risposta menzione data
        numero nome cifra indicazione indicazioni spiegazione riferimento riferimenti""",
    own_knowledge="so conosco ho trovo dispongo posso",
    assistance="aiutare aiutarti aiutarla assistere",
    adversatives="ma senza_dubbio però tuttavia bensì invece",
    conjunctions="e mentre così",
    concessives="sebbene mentre anche_se benché nonostante",
    complementizers="che",
    subjects="io lui lei esso essa noi loro questo questa ciò che si",
    auxiliaries="è sono era erano fu furono ha hanno aveva può possono deve costa misura sarà",
    how_many="quanto quanta quanti quante",
    when="""quando in_che_anno in_quale_anno che_anno quale_anno che_data che_giorno a_che_ora quale_data""",
    who="chi",
    where="dove",
    what="che cosa quale quali",
    why="perché come",
    verdicts="sì si no vero falso esatto corretto",
    elisions=True,
    sayings="menzionato menzionata menzionati menzionate specificato specificata indicato indicata precisato",
)
