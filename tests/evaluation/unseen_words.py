"""A detector small enough to follow by hand: words that no document has are at risk."""

from __future__ import annotations

import numpy as np

from rag_guard.detectors.base import Detection, Finding, TokenRisks


class UnseenWords:
    name = "unseen-words"
    version = "1"
    threshold = 0.5

    def detect(self, analyses):
        return [self._detect(analysis) for analysis in analyses]

    def _detect(self, analysis):
        if "explode" in analysis.answer:
            raise RuntimeError("asked to fail")
        seen = " ".join(document.text for document in analysis.documents).casefold()
        words = analysis.words
        risks = [0.1 if word.text.casefold() in seen else 0.9 for word in words]
        findings = [
            Finding(word.start, word.end, "unsupported", risk)
            for word, risk in zip(words, risks, strict=True)
            if risk > self.threshold
        ]
        offsets = np.array([(word.start, word.end) for word in words], np.int64).reshape(-1, 2)
        return Detection(TokenRisks(offsets, np.array(risks)), tuple(findings))
