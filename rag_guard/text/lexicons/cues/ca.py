"""Catalan cues."""

from rag_guard.text.lexicons.cues import Lexicon

LEXICON = Lexicon(
    language="ca",
    hesitations="dubtis dubti dubteu",
    addressees="vostè tu es",
    courtesy="""hola bon_dia bona_tarda bona_nit benvingut benvinguda és_clar esclar clar per_descomptat
        segur certament d'acord ok gràcies perdó perdona disculpa disculpes disculpi ho_sento sento
        lamento gust encantat encantada ajudar ajudar-te ajudar-lo ajudi ajuda espero dubtis dubteu
        dubti pregunta preguntes preguntar salutacions adéu plaer útil""",
    lead_ins="""aquí continuació següent següents sota resposta respostes resum llista passos explicació
        exemple exemples nota regles conclusió breu punts""",
    glue="""el la els les l un una uns unes de d del dels a al als en amb per sobre i o que què qui quin
        quina quins quines com quan on perquè es s em m et t li ho hi ens us nos meu teu seu seva meva
        teva nostre aquest aquesta aquests aquestes això aquell és són era eren va van ser estat està
        estan ha han he hi_ha haver té tenen tinc puc pot poden podria pots ha_de vols vol si algun
        alguna més altre altra altres addicional addicionals també molt tot encara qualsevol deixa'm
        vaig veure revisar buscar trobar donar saber fer específic específica específiques
        explícitament directament exacta exacte exactament clarament suficient suficients prou
        malauradament tanmateix possible respecte ara moment jo hagi""",
    sources="""text textos passatge passatges context contextos document documents font fonts article
        articles fragment fragments extracte extractes material contingut referència referències
        paràgraf paràgrafs""",
    framing="""segons base basant-me basat acord proporcionat proporcionada proporcionats proporcionades
        donat donada donats disponible disponibles anterior partir facilitat facilitada""",
    speakers="jo em m nosaltres",
    negations="no cap res mai sense tampoc ni manca manquen falta falten insuficient",
    inability="impossible incapaç no_puc no_és_possible no_es_pot no_estic_segur no_podem no_pot",
    unknowing="desconegut desconeguda desconec desconeix incert ignoro",
    knowledge="""sé sap saber sabem conec esmenta esmenten esmentat esmentada menciona mencionen mencionat
        mencionada especifica especifiquen especificat especificada indica indiquen indicat indicada
        diu diuen dir dit conté contenen contenir inclou inclouen proporciona proporcionen
        proporcionar dona donen ofereix respondre respon respost descriu determinar troba trobat
        trobar apareix apareixen detalla explica revela confirmar tinc té disposo conegut disponible
        consta figura tracta parla precisa permet""",
    information="""informació informacions dada dades detall detalls resposta menció data número nombre
        nom xifra indicació explicació referència""",
    own_knowledge="sé conec trobo tinc disposo puc",
    assistance="ajudar ajudar-te ajudar-lo assistir",
    adversatives="però sens_dubte sense_dubte sinó tanmateix",
    conjunctions="i mentre",
    concessives="encara_que mentre tot_i malgrat",
    complementizers="que",
    subjects="jo ell ella això nosaltres ells elles vostè aquest aquesta que es",
    auxiliaries="és són era eren fou va van ha han havia té tenen pot poden costa fa serà",
    how_many="quant quanta quants quantes",
    when="quan quin_any en_quin_any quina_data quin_dia a_quina_hora",
    who="qui",
    where="on",
    what="què quin quina quins quines",
    why="per_què com",
    verdicts="sí no cert fals correcte",
    elisions=True,
    sayings="esmentat esmentada mencionat mencionada especificat especificada indicat indicada",
)
