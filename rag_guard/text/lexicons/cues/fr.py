"""French cues."""

from rag_guard.text.lexicons.cues import Lexicon

LEXICON = Lexicon(
    language="fr",
    hesitations="hésitez hésite hésitiez",
    addressees="vous tu on",
    courtesy="""bonjour bonsoir salut coucou bienvenue bien_sûr certainement absolument volontiers
        d'accord ok okay merci remercie désolé désolée excuses excusez pardon plaisir heureux heureuse
        ravi ravie aide aider aidera aidé utile espère hésitez hésite n'hésitez n'hésite question
        questions poser souhaite bonne_journée au_revoir bonne_question cordialement prie
        s'il_vous_plaît""",
    lead_ins="""voici voilà ci-dessous dessous suivant suivante suivants suivantes réponse réponses résumé
        aperçu liste étapes explication exemple exemples note remarque règles conclusion bref points
        ensemble""",
    glue="""le la les l un une des du de d au aux ce c cet cette ces cela ça ci qui que qu quoi quel
        quelle quels quelles dont où quand comment pourquoi je j il elle on nous vous tu te toi moi me
        m se s y en votre vos ton ta tes mon ma mes notre nos son sa ses leur est sont était étaient
        être été suis êtes es sera serait ai as a avons avez ont avait avoir peux peut pouvez pouvons
        puis pourrait pourrais pourriez dois doit faut fait faire vais va allez si sur dans par pour
        avec à et ou comme plus autre autres davantage supplémentaires supplémentaire besoin voulez
        veux voir vérifier regarder trouver donner savoir laissez laissez-moi moi-même tout toute tous
        aussi très encore ici là bien précise précis précisément précises explicitement directement
        spécifique spécifiques clairement malheureusement cependant suffisamment suffisant suffisante
        suffisantes assez possible concernant sujet propos moment maintenant lors selon-moi n""",
    sources="""texte textes passage passages contexte contextes document documents source sources article
        articles extrait extraits matériel contenu référence références documentation paragraphe
        paragraphes""",
    framing="""selon d'après après base basant basé basée fonction fourni fournie fournis fournies donné
        donnée donnés données partir disponible disponibles ci-dessus présenté présentés présentes vue""",
    speakers="je j nous me m moi",
    negations="ne n pas non aucun aucune rien jamais ni sans nulle manque manquent manquants",
    inability="""impossible incapable pas_possible pas_en_mesure peux_pas peut_pas pas_sûr pas_certain
        peut_être_pas""",
    unknowing="inconnu inconnue inconnus incertain ignore indéterminé indéterminée",
    knowledge="""sais sait savons connais connaît mentionne mentionnent mentionné mentionnée mentionnés
        mentionnées précise précisent précisé précisée précisés indique indiquent indiqué indiquée
        indiqués dit disent dire spécifie spécifié spécifiée contient contiennent contenu contenir
        fournit fournissent fourni fournie fournir donne donnent donné donnée donner répond répondre
        répondu décrit décrivent déterminer trouve trouvé trouver figure figurent aborde abordent
        évoque évoqué évoquée parle explique permet permettent permettant connu connue cite cité citée
        révèle confirme confirmer disponible comporte précisément offre présente comprend""",
    information="""information informations info infos renseignement renseignements détail détails réponse
        donnée données mention date nombre chiffre nom indication indications explication précision
        précisions élément éléments""",
    own_knowledge="sais connais dispose",
    assistance="aider assister aide",
    adversatives="mais sans_doute cependant toutefois pourtant néanmoins",
    conjunctions="et tandis alors",
    concessives="bien_que tandis_que alors_que quoique si",
    complementizers="que qu",
    subjects="je il elle on nous vous ils elles ce cela ça c'est qui",
    auxiliaries="""est sont était étaient a ont avait avaient peut peuvent sera seront fut furent doit
        doivent coûte mesure""",
    how_many="combien",
    when="quand en_quelle_année quelle_année quelle_date quel_jour à_quelle_heure quel_mois",
    who="qui à_qui",
    where="où",
    what="que quoi quel quelle quels quelles qu'est-ce",
    why="pourquoi comment",
    verdicts="oui non si vrai faux exact",
    elisions=True,
    sayings="""mentionné mentionnée mentionnés mentionnées précisé précisée indiqué indiquée spécifié spécifiée décrit décrite""",
)
