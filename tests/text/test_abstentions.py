"""Abstentions, statements that merely negate, and filler, in the languages that have cue lexicons."""

from __future__ import annotations

import pytest

from rag_guard.text.abstentions import find_abstentions
from rag_guard.text.claims import find_claims
from rag_guard.text.language import detect_language
from rag_guard.text.lexicons.cues import LANGUAGES, lexicon

ABSTENTIONS = """
The source gives no number.
The passages provide no information about the price.
I could not find that in the documents.
I cannot answer this question based on the provided context.
The context does not contain enough information to answer the question.
None of the passages mention the price.
It is not possible to determine the year from the text.
There is not enough information.
No answer can be found in the given passages.
Diese Information ist im Text nicht enthalten.
Ich weiß es nicht.
Der Text erwähnt nicht, wer die Burg gebaut hat.
Das geht aus dem Dokument nicht hervor.
Dazu gibt es in den Quellen keine Angaben.
Leider kann ich diese Frage anhand der Dokumente nicht beantworten.
Je ne sais pas.
Le texte ne mentionne pas qui a construit le château.
Cette information n'est pas disponible dans le document.
Il n'y a pas d'informations sur ce sujet dans les passages.
Impossible de répondre à partir du contexte fourni.
No lo sé.
El texto no menciona quién construyó el castillo.
No hay información sobre eso en los documentos.
No puedo responder a esa pregunta con el contexto proporcionado.
Non lo so.
Il testo non menziona chi ha costruito il castello.
Non ci sono informazioni sufficienti nel documento.
Non posso rispondere in base al contesto fornito.
No ho sé.
El text no esmenta qui va construir el castell.
No hi ha informació sobre això als documents.
Jag vet inte.
Texten nämner inte vem som byggde slottet.
Det framgår inte av texten.
Det finns ingen information om detta i dokumenten.
En tiedä.
Tekstissä ei mainita, kuka rakensi linnan.
Tietoa ei löydy annetuista asiakirjoista.
En voi vastata kysymykseen annetun tekstin perusteella.
Nevím.
Text neuvádí, kdo hrad postavil.
V dokumentech není uvedeno, kdo hrad postavil.
Tato informace není v textu k dispozici.
Na základě poskytnutých dokumentů nemohu odpovědět.
Ez dakit.
Testuak ez du aipatzen nork eraiki zuen gaztelua.
Dokumentuetan ez dago informaziorik horri buruz.
لا أعرف.
لا يذكر النص من بنى القلعة.
لا توجد معلومات عن ذلك في الوثائق.
لا يمكنني الإجابة بناءً على السياق المقدم.
نمی‌دانم.
متن اشاره‌ای به سازنده قلعه نمی‌کند.
این اطلاعات در متن موجود نیست.
بر اساس متن ارائه شده نمی‌توانم پاسخ دهم.
मुझे नहीं पता।
पाठ में यह उल्लेख नहीं है कि किला किसने बनाया।
दिए गए दस्तावेज़ों में इसकी कोई जानकारी नहीं है।
我不知道。
根据提供的资料无法回答。
文中没有提到谁建造了这座城堡。
文档中没有相关信息。
文書には記載がありません。
わかりません。
提供された文書にはその情報は含まれていません。
申し訳ありませんが、わかりません。
""".strip().splitlines()
STATEMENTS = """
Fever did not lead to withdrawal from the study.
The company did not provide refunds.
No.
The bridge does not open on Mondays.
He did not know about the bomb.
The museum provides no parking.
Visitors cannot enter without a ticket.
The policy does not cover dental work.
The lake is unknown to tourists.
Die Firma hat keine Rückerstattung gewährt.
Der Angeklagte wusste nichts von der Bombe.
Hunde sind nicht erlaubt.
L'entreprise n'a pas remboursé les clients.
Il ne connaissait pas la ville.
La empresa no ofreció reembolsos.
Los perros no pueden entrar.
L'azienda non ha rimborsato i clienti.
Företaget gav inga återbetalningar.
Yhtiö ei antanut hyvityksiä.
Firma neposkytla náhradu.
Enpresak ez zuen itzulketarik eman.
لم تقدم الشركة تعويضات.
شرکت غرامت نداد.
कंपनी ने पैसे वापस नहीं किए।
公司没有退款。
他不知道炸弹的事。
会社は返金しませんでした。
Unlike the old bridge, the new one has no tolls.
There is no evidence that the drug works.
Not all birds can fly.
The speed limit is not specified by law.
It is impossible to enter the castle in winter.
You cannot find a cheaper hotel in Oslo.
The name of the ship is not painted on its hull.
""".strip().splitlines()
FILLER = """
Hallo! Gerne helfe ich dir.
Natürlich, hier ist die Antwort:
Ich hoffe, das hilft!
Bonjour !
Bien sûr, voici un résumé :
N'hésitez pas à me poser d'autres questions.
J'espère que cela vous aide.
¡Hola! Claro, aquí tienes la respuesta:
Espero que esto ayude.
Ciao! Certo, ecco la risposta:
Spero che questo ti aiuti.
Bon dia! Espero que això ajudi.
Hej! Självklart, här är svaret:
Hoppas det hjälper!
Hei! Toki, tässä on vastaus:
Toivottavasti tämä auttaa.
Dobrý den! Samozřejmě, zde je odpověď:
Doufám, že to pomůže.
Kaixo! Noski, hona hemen erantzuna:
مرحباً! بالتأكيد، إليك الإجابة:
سلام! البته، پاسخ در زیر است:
नमस्ते! ज़रूर, यहाँ उत्तर है:
你好！当然，以下是答案：
希望这对您有帮助！
こんにちは！もちろんです。
Let me know if you have any other questions.
Sure, here is the summary:
Here's what I found:
Please feel free to ask if you need anything else!
Certainly! I'd be happy to help you with that.
You're welcome!
Thank you for your question.
Great question!
""".strip().splitlines()


@pytest.mark.parametrize("answer", ABSTENTIONS)
def test_an_answer_that_does_not_know_abstains(answer: str) -> None:
    language = detect_language(answer)
    claims = find_claims(answer, language)
    assert claims
    assert len(find_abstentions(answer, claims, language)) == len(claims)


@pytest.mark.parametrize("answer", STATEMENTS)
def test_a_negated_statement_does_not_abstain(answer: str) -> None:
    language = detect_language(answer)
    claims = find_claims(answer, language)
    assert claims
    assert find_abstentions(answer, claims, language) == []


@pytest.mark.parametrize("answer", FILLER)
def test_filler_has_no_claims(answer: str) -> None:
    assert find_claims(answer, detect_language(answer)) == []


def test_a_fact_behind_an_abstention_is_its_own_claim() -> None:
    for answer in (
        "The passages do not mention the price, but the tour is 2 hours long.",
        "While the text does not mention the price, it says that tours last 2 hours.",
        "The price is not given in the text; tours last 2 hours.",
    ):
        claims = find_claims(answer, "en")
        found = find_abstentions(answer, claims, "en")
        assert len(claims) == 2
        assert [(item.start, item.end) for item in found] == [(claims[0].start, claims[0].end)]


def test_kinds_tell_the_source_from_the_speaker_and_from_a_refusal() -> None:
    for answer, kind in (
        ("The text does not say.", "not_in_documents"),
        ("I don't know.", "unknown"),
        ("I'm sorry, I cannot help with that.", "refusal"),
    ):
        assert [item.kind for item in find_abstentions(answer, find_claims(answer, "en"), "en")] == [kind]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_lexicon_has_what_filler_and_abstentions_need(language: str) -> None:
    found = lexicon(language)
    assert found is not None
    assert found.language == language
    for name in (
        "courtesy",
        "lead_ins",
        "glue",
        "sources",
        "negations",
        "inability",
        "knowledge",
        "information",
    ):
        assert found.cues(name).entries
    assert not set(found.cues("glue").words) & set(found.cues("negations").words) - {"n", "ne"}


def test_an_abstention_does_not_hide_the_statement_behind_its_but() -> None:
    answer = "Non ho informazioni in tempo reale, ma secondo i dati lo stadio ospita 30.000 persone."
    assert find_abstentions(answer, find_claims(answer, "it"), "it") == []
    for answer in (
        "Protect it: while not mentioned in the passages, covers can help against dust.",
        "Replace the whole seat (not mentioned in the passages).",
    ):
        assert find_abstentions(answer, find_claims(answer, "en"), "en") == []
    for answer in ("I don't know, but feel free to ask me.", "I don't know, but the text does not say it."):
        claims = find_claims(answer, "en")
        assert len(find_abstentions(answer, claims, "en")) == len(claims)


def test_a_set_phrase_with_a_negation_does_not_negate() -> None:
    answer = "Sin embargo, hasta la fecha ha ganado un premio."
    assert find_abstentions(answer, find_claims(answer, "es"), "es") == []


@pytest.mark.parametrize("answer", ["The pool is not available.", "Parking at the hotel is not available."])
def test_a_denied_thing_is_no_abstention(answer):
    assert find_abstentions(answer, find_claims(answer, "en"), "en") == []


def test_denied_information_is_an_abstention():
    answer = "Information about parking is not available."
    assert len(find_abstentions(answer, find_claims(answer, "en"), "en")) == 1
