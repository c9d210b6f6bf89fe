"""Each measure against small examples whose value follows from the published definition by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from rag_guard.evaluation import metrics

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 10)).map(lambda s: (s[0], s[0] + s[1])), max_size=4)


def test_example_scores_count_answers():
    scores = metrics.example_scores([True, True, False, False], [True, False, True, False])
    assert scores == pytest.approx((1 / 2, 1 / 2, 1 / 2))


def test_example_scores_are_zero_where_nothing_is_predicted():
    assert metrics.example_scores([True, False], [False, False]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("positives", "rows", "published"),
    [(160, 900, 30.2), (204, 900, 37.0), (579, 900, 78.3), (943, 2700, 51.8)],
)
def test_all_positive_baseline_of_ragtruth(positives, rows, published):
    gold = [True] * positives + [False] * (rows - positives)
    assert round(100 * metrics.all_positive_f1(gold), 1) == published


def test_auroc_is_the_share_of_ordered_pairs():
    # Pairs (positive, negative): (.9, .5) right, (.9, .1) right, (.3, .5) wrong, (.3, .1) right.
    assert metrics.auroc([1, 1, 0, 0], [0.9, 0.3, 0.5, 0.1]) == pytest.approx(3 / 4)


def test_auroc_is_scikit_learns_with_ties_and_weights():
    generator = np.random.default_rng(0)
    gold, risks = generator.random(300) < 0.3, generator.random(300).round(1)
    weights = generator.integers(0, 3, 300)
    assert metrics.auroc(gold, risks) == pytest.approx(roc_auc_score(gold, risks))
    assert metrics.auroc(gold, risks, weights) == pytest.approx(roc_auc_score(gold, risks, sample_weight=weights))


def test_auroc_of_one_class_is_undefined():
    assert metrics.auroc([True, True], [0.1, 0.9]) is None
    assert metrics.auroc([True, False], [0.1, 0.9], weights=[1, 0]) is None


def test_average_precision_sums_precision_over_recall_steps():
    # Ranks of the positives are 1 and 3: AP = 1/2 * 1/1 + 1/2 * 2/3.
    assert metrics.average_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]) == pytest.approx(5 / 6)
    assert metrics.average_precision([0, 0], [0.1, 0.2]) is None


def test_a_token_is_positive_if_it_shares_a_character():
    tokens = [(0, 3), (4, 8), (9, 12)]
    assert metrics.token_labels(tokens, [(3, 5)]).tolist() == [False, True, False]
    assert metrics.token_labels(tokens, []).tolist() == [False, False, False]
    assert metrics.token_labels([], [(0, 1)]).tolist() == []


def test_span_scores_are_micro_averaged_over_characters():
    overlaps = [
        metrics.character_overlap([(0, 10)], [(5, 15)]),  # 5 shared of 10 predicted and 10 gold
        metrics.character_overlap([(0, 2), (4, 6)], [(0, 6)]),  # 4 of 6 and 4
        metrics.character_overlap([], [(0, 4)]),
        metrics.character_overlap([(3, 9)], []),
    ]
    precision, recall = 9 / 20, 9 / 20
    assert metrics.span_scores(overlaps) == pytest.approx((precision, recall, 9 / 20))


def test_overlapping_gold_spans_count_once_each_as_published():
    assert metrics.character_overlap([(0, 4), (0, 4)], [(0, 2)]) == (4, 2, 8)


def test_span_scores_without_any_span_are_zero():
    assert metrics.span_scores([metrics.character_overlap([], [])]) == (0.0, 0.0, 0.0)


def test_calibration_error_is_the_weighted_gap_of_bins():
    # Two bins: (0, .5] has mean risk .25 and no positive, (.5, 1] has mean risk .8 and one of two positive.
    error = metrics.expected_calibration_error([0, 0, 1, 0], [0.2, 0.3, 0.7, 0.9], bins=2)
    assert error == pytest.approx(0.5 * 0.25 + 0.5 * abs(0.5 - 0.8))


def test_calibrated_risks_have_no_error():
    gold = [True] * 8 + [False] * 2
    assert metrics.expected_calibration_error(gold, [0.8] * 10) == pytest.approx(0.0)
    assert metrics.expected_calibration_error([False, True], [0.0, 1.0]) == 0.0
    assert metrics.expected_calibration_error([], []) is None


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        ([], [], 1.0),
        ([(0, 4)], [], 0.0),
        ([], [(0, 4)], 0.0),
        ([(0, 4)], [(2, 6)], 2 / 6),
        ([(0, 2), (1, 4)], [(0, 4)], 1.0),
    ],
)
def test_iou_of_characters(gold, predicted, expected):
    assert metrics.span_iou(gold, predicted) == pytest.approx(expected)


@given(SPANS, SPANS)
def test_iou_is_symmetric_and_bounded(gold, predicted):
    assert metrics.span_iou(gold, predicted) == metrics.span_iou(predicted, gold)
    assert 0.0 <= metrics.span_iou(gold, predicted) <= 1.0
    assert metrics.span_iou(gold, gold) == 1.0


def test_soft_correlation_is_spearmans():
    # Ranks 1 2 3 against 1 3 2: rho = 1 - 6 * (0 + 1 + 1) / (3 * 8).
    assert metrics.soft_correlation([0.0, 0.5, 1.0], [0.1, 0.9, 0.2]) == pytest.approx(0.5)
    assert metrics.soft_correlation([0.0, 0.5, 1.0], [1.0, 0.5, 0.0]) == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        ([0.0, 0.0], [0.0, 0.0], 1.0),
        ([0.0, 0.0], [0.7, 0.7], 1.0),
        ([0.0, 1.0], [0.0, 0.0], 0.0),
        ([0.0, 0.0], [0.0, 1.0], 0.0),
        ([0.0, 0.0], [1e-12, 0.0], 1.0),
        ([], [], 1.0),
    ],
)
def test_soft_correlation_of_constant_series(gold, predicted, expected):
    assert metrics.soft_correlation(gold, predicted) == expected


def test_character_probabilities_cover_their_spans_only():
    assert metrics.character_probabilities(5, [(1, 3, 0.5), (2, 4, 1.0)]).tolist() == [0, 0.5, 1, 1, 0]


def test_best_threshold_separates_when_it_can():
    assert metrics.best_threshold([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]) == (0.6, 1.0)


def test_best_threshold_is_the_best_of_all_candidates():
    generator = np.random.default_rng(1)
    gold, risks = generator.random(60) < 0.4, generator.random(60).round(1)
    found = metrics.best_threshold(gold, risks)
    every = {t: metrics.example_scores(gold, risks >= t).f1 for t in risks}
    assert found.f1 == pytest.approx(max(every.values()))
    assert found.value == max(t for t, f1 in every.items() if f1 == pytest.approx(found.f1))


def test_best_threshold_needs_a_positive():
    with pytest.raises(ValueError, match="no positive"):
        metrics.best_threshold([False, False], [0.1, 0.2])


def test_bootstrap_draws_whole_groups():
    groups = ["a", "a", "b", "b", "c"]
    seen = []
    metrics.bootstrap_interval(groups, lambda weights: seen.append(weights) or 0.0, resamples=50)
    assert all(w[0] == w[1] and w[2] == w[3] and w[0] + w[2] + w[4] == 3 for w in seen)


def test_bootstrap_interval_covers_the_mean_of_independent_groups():
    values = np.linspace(0, 1, 101)
    low, high = metrics.bootstrap_interval(
        [str(i) for i in range(101)], lambda weights: float(np.average(values, weights=weights))
    )
    # Standard error of the mean of 101 uniform values: 0.2915 / sqrt(101) = 0.029.
    assert low == pytest.approx(0.5 - 1.96 * 0.029, abs=0.01)
    assert high == pytest.approx(0.5 + 1.96 * 0.029, abs=0.01)


def test_bootstrap_is_deterministic_and_undefined_without_values():
    groups = ["a", "b", "c"]

    def statistic(weights):
        return float(weights @ [1.0, 2.0, 4.0])

    assert metrics.bootstrap_interval(groups, statistic) == metrics.bootstrap_interval(groups, statistic)
    assert metrics.bootstrap_interval(groups, lambda weights: None) is None
