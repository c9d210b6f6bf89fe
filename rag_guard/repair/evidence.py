"""TF-IDF evidence for a claim: the document windows that share its rarest words (Mulakkayala et al.)."""

from __future__ import annotations

from collections.abc import Sequence

from rag_guard.errors import MissingDependencyError
from rag_guard.schema import Claim, Document, Evidence, Report
from rag_guard.text.corpus_cache import corpus_for


def require_sklearn(what: str) -> None:
    """Raise with the remedy where scikit-learn is not installed.

    Raises:
        MissingDependencyError: an ``ImportError``.
    """
    try:
        import sklearn  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            f"{what} needs scikit-learn; install it with: pip install 'rag-guard[bench]'"
        ) from error


def tfidf_evidence(report: Report, claims: Sequence[Claim], top_k: int = 3) -> list[tuple[Evidence, ...]]:
    """Per claim, up to ``top_k`` windows of the report's documents by TF-IDF cosine in (0, 1], best first."""
    require_sklearn("TF-IDF evidence")
    from sklearn.feature_extraction.text import TfidfVectorizer

    documents: tuple[Document, ...] = report.documents
    corpus = corpus_for(documents)
    texts = [corpus.window_text(i) for i in range(len(corpus.windows))]
    if not texts or not claims:
        return [()] * len(claims)
    vectorizer = TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
    try:
        windows = vectorizer.fit_transform(texts)
    except ValueError:  # no word in any window
        return [()] * len(claims)
    cosines = (vectorizer.transform([claim.text for claim in claims]) @ windows.T).toarray()
    found = []
    for row in cosines:
        best = [int(i) for i in row.argsort(kind="stable")[::-1][:top_k] if row[i] > 0]
        items = []
        for i in best:
            window = corpus.windows[i]
            source = documents[window.document]
            items.append(
                Evidence(
                    document=window.document,
                    document_id=source.id,
                    start=window.start,
                    end=window.end,
                    quote=source.text[window.start : window.end],
                    relevance=min(float(row[i]), 1.0),
                    source=source.source,
                )
            )
        found.append(tuple(items))
    return found
