"""Spanish cues."""

from rag_guard.text.lexicons.cues import Lexicon

LEXICON = Lexicon(
    language="es",
    hesitations="dudes dude duden duda",
    addressees="usted ustedes tú se",
    courtesy="""hola buenos_días buenas_tardes buenas_noches bienvenido bienvenida claro supuesto
        por_supuesto seguro desde_luego ok vale gracias perdón perdona disculpa disculpas disculpe
        siento lamento gusto encantado encantada feliz ayudar ayudarte ayudarle ayude ayuda espero
        dudes duda dude pregunta preguntas preguntar saludos adiós placer útil sirva buena_pregunta""",
    lead_ins="""aquí continuación siguiente siguientes abajo respuesta respuestas resumen lista pasos
        explicación ejemplo ejemplos nota reglas conclusión breve puntos general""",
    glue="""el la los las un una unos unas lo al del de a en con por para sobre y e o u que qué quien
        quién cual cuál cuales cómo como cuándo cuando dónde donde porqué se me te le les nos mi tu su
        sus tus mis nuestro esto esta este estas estos eso esa ese ello aquello es son era eran fue
        fueron ser está están estoy estar ha han he hay haber tiene tienen tengo puedo puede pueden
        podría puedes debe desea deseas necesita necesitas necesite quieres quiere tienes si algo
        alguna algún más otra otro otras otros adicional adicionales también muy todo toda aún
        cualquier déjame déjeme voy ver revisar buscar encontrar dar saber hacer específico específica
        específicos específicas explícitamente directamente exacta exacto exactamente claramente
        suficiente suficientes lamentablemente desafortunadamente embargo posible respecto acerca
        ahora momento hacerlo yo aquí""",
    sources="""texto textos pasaje pasajes contexto contextos documento documentos fuente fuentes artículo
        artículos fragmento fragmentos extracto extractos material materiales contenido referencia
        referencias párrafo párrafos""",
    framing="""según base basado basada basándome basándonos acuerdo proporcionado proporcionada
        proporcionados proporcionadas dado dada dados dadas disponible disponibles anterior anteriores
        partir suministrada suministrado facilitado facilitada presentado proporcionan""",
    speakers="yo me nosotros nos",
    negations="""no ningún ninguna ninguno nada nunca jamás sin tampoco ni falta faltan carece
        insuficiente insuficientes""",
    inability="""imposible incapaz no_puedo no_es_posible no_se_puede no_estoy_seguro no_podemos no_pueden
        no_puede""",
    unknowing="desconocido desconocida desconozco desconoce incierto ignoro indeterminado",
    knowledge="""sé sabe saber sabemos conozco conoce menciona mencionan mencionado mencionada mencionar
        mencione especifica especifican especificado especificada indica indican indicado indicada
        dice dicen decir dicho contiene contienen contener incluye incluyen proporciona proporcionan
        proporcionado proporcionar da dan ofrece ofrecen responder responde respuesta respondido
        describe describen determinar encuentra encontrado encontrar encuentro aparece aparecen
        detalla explica revela confirmar tengo tiene dispongo conocido disponible aborda habla señala
        consta figura establece precisa cuento permite permiten""",
    information="""información informaciones dato datos detalle detalles respuesta mención fecha número
        nombre cifra indicación explicación referencia""",
    own_knowledge="sé conozco encuentro tengo dispongo puedo cuento",
    assistance="ayudar ayudarte ayudarle asistir",
    adversatives="pero sino sin_embargo sin_duda aunque",
    conjunctions="y mientras así",
    concessives="aunque mientras si_bien a_pesar",
    complementizers="que",
    subjects="yo él ella ello nosotros ellos ellas usted esto este esta eso que se",
    auxiliaries="""es son era eran fue fueron está están ha han había tiene tienen tenía puede pueden debe
        cuesta mide hay será""",
    how_many="cuánto cuánta cuántos cuántas cuanto cuantos cuantas qué_altura qué_edad",
    when="cuándo en_qué_año qué_año qué_fecha qué_día a_qué_hora qué_hora cuando_se",
    who="quién quiénes",
    where="dónde adónde",
    what="qué cuál cuáles",
    why="por_qué cómo",
    verdicts="sí si no verdadero falso cierto correcto",
    sayings="mencionado mencionada mencionados mencionadas especificado especificada indicado indicada",
)
