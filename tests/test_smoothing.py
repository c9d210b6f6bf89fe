"""Label persistence against an enumeration of every label sequence."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_guard.decoding.smoothing import LabelPersistence, aggregate, fit_persistence, smooth
from rag_guard.errors import InvalidInputError

probability = st.floats(0.01, 0.99)
answers = st.lists(probability, min_size=0, max_size=7)


def posterior_by_enumeration(risks: list[float], chain: LabelPersistence) -> list[float]:
    stay_1 = chain.stay if chain.stay_hallucinated is None else chain.stay_hallucinated
    move = np.array([[chain.stay, 1 - chain.stay], [1 - stay_1, stay_1]])
    start = np.array([move[1, 0], move[0, 1]]) / (move[1, 0] + move[0, 1])
    mass = np.zeros(len(risks))
    total = 0.0
    for labels in itertools.product((0, 1), repeat=len(risks)):
        weight = start[labels[0]]
        for before, after in itertools.pairwise(labels):
            weight *= move[before, after]
        for risk, label in zip(risks, labels, strict=True):
            weight *= risk / chain.base_rate if label else (1 - risk) / (1 - chain.base_rate)
        total += weight
        mass += weight * np.array(labels)
    return list(mass / total)


@given(answers.filter(bool), probability, st.none() | probability, probability)
def test_posterior_equals_the_sum_over_all_label_sequences(risks, stay, stay_hallucinated, base_rate):
    chain = LabelPersistence(stay, stay_hallucinated, base_rate)
    (smoothed,) = chain.smooth([risks])
    np.testing.assert_allclose(smoothed, posterior_by_enumeration(risks, chain), rtol=1e-7, atol=1e-9)


@given(st.lists(answers, max_size=5), probability)
def test_a_batch_equals_its_answers_one_by_one(batch, stay):
    together = smooth(batch, stay)
    assert len(together) == len(batch)
    for risks, smoothed in zip(batch, together, strict=True):
        np.testing.assert_allclose(smoothed, smooth([risks], stay)[0], atol=1e-12)


def test_a_lone_spike_fades_and_a_run_stays():
    spike, run = smooth([[0.1] * 10 + [0.9] + [0.1] * 10, [0.1] * 5 + [0.9] * 10 + [0.1] * 5])
    assert spike.max() < 0.3
    assert run[5:15].min() > 0.85
    assert run[[0, -1]].max() < 0.2


def test_stay_one_half_changes_nothing():
    risks = np.array([0.2, 0.9, 0.4])
    np.testing.assert_allclose(smooth([risks], 0.5)[0], risks)


def test_thousands_of_certain_tokens_stay_finite():
    (smoothed,) = smooth([np.tile([0.0, 1.0], 5000)], 0.999)
    assert np.isfinite(smoothed).all()
    assert (smoothed >= 0).all()
    assert (smoothed <= 1).all()


@pytest.mark.parametrize("risks", [[float("nan")], [1.5], [-0.1]])
def test_values_that_are_no_risks_are_refused_by_position(risks):
    with pytest.raises(InvalidInputError, match=r"risks\[1\]"):
        smooth([[0.5], risks])


@pytest.mark.parametrize("stay", [0.0, 1.0, -1.0, 2.0])
def test_a_stay_that_is_no_probability_is_refused(stay):
    with pytest.raises(InvalidInputError, match="stay"):
        LabelPersistence(stay)


def test_fitted_chain_recovers_the_chain_that_made_the_labels():
    generator = np.random.default_rng(0)
    labels = [0]
    for draw in generator.random(60_000):
        leave = 0.01 if labels[-1] == 0 else 0.08
        labels.append(1 - labels[-1] if draw < leave else labels[-1])
    fitted = fit_persistence([labels])
    assert fitted.stay == pytest.approx(0.99, abs=0.002)
    assert fitted.stay_hallucinated == pytest.approx(0.92, abs=0.01)
    symmetric = fit_persistence([labels], symmetric=True)
    assert symmetric.stay_hallucinated is None
    assert 0.92 < symmetric.stay < 0.99


def test_ranges_take_the_risks_of_the_tokens_that_overlap_them():
    offsets = np.array([[0, 3], [3, 7], [8, 12]])
    risks = np.array([0.2, 0.6, 0.5])
    ranges = np.array([[0, 7], [6, 12], [7, 8], [12, 20]])
    np.testing.assert_allclose(aggregate(offsets, risks, ranges), [0.6, 0.6, 0.0, 0.0])
    np.testing.assert_allclose(aggregate(offsets, risks, ranges, "noisy_or"), [1 - 0.8 * 0.4, 1 - 0.4 * 0.5, 0.0, 0.0])
    np.testing.assert_allclose(aggregate(offsets, risks, ranges, "mean"), [(0.6 + 2.4) / 7, (0.6 + 2.0) / 5, 0.0, 0.0])
