"""The model with effects: fitted, it has the shares and the kappa asked for, and texts explain their share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.stats.kappa import MEANS
from fcpair.stages.stats.latent_labels import (
    Effects,
    answer_by_effects,
    explained_variances,
    fit_effects,
    new_annotators,
)
from fcpair.stages.stats.multi_rater import COEFFICIENTS
from fcpair.stages.stats.predicted_widths import OverlapSize, Pilot, measure_pilot, place_labels

SHARES = np.array([0.75, 0.05, 0.2])
ALPHA = next(one for one in COEFFICIENTS if one.name == "Krippendorff's alpha, nominal")


@given(st.floats(0, 0.45), st.floats(0, 0.45), st.floats(0.05, 0.7))
def test_the_fit_has_the_kappa(of_hs: float, of_cn: float, kappa: float) -> None:
    fitted = fit_effects(Effects(hs=of_hs, cn=of_cn), SHARES, kappa)
    assert new_annotators(fitted)[MEANS[0]] == pytest.approx(kappa, abs=1e-4)


def test_the_fit_has_the_shares() -> None:
    fitted = fit_effects(Effects(hs=0.2, cn=0.3, leniency=0.4), SHARES, 0.4)
    rng, n = np.random.default_rng(0), 400_000
    seen = rng.normal(size=n) + rng.normal(0, 0.4, n) + rng.normal(0, fitted.noise, n)
    drawn = np.bincount(np.searchsorted(fitted.thresholds, seen), minlength=3) / n
    assert drawn == pytest.approx(SHARES, abs=0.003)


def test_texts_cannot_explain_more_than_everything() -> None:
    with pytest.raises(InputError, match=r"HS and CN explain 0\.5 and 0\.5 .* expected less than 1 together"):
        fit_effects(Effects(hs=0.5, cn=0.5), SHARES, 0.4)


def test_people_who_differ_much_cannot_agree_much() -> None:
    with pytest.raises(InputError, match=r"kappa is 0\.9; with annotators this different it is 0\.\d+ at most"):
        fit_effects(Effects(leniency=1.0), SHARES, 0.9)


def test_sides_explain_what_the_effects_say_and_nothing_without_any() -> None:
    none = explained_variances(fit_effects(Effects(), SHARES, 0.4), ALPHA)
    some = explained_variances(fit_effects(Effects(hs=0.2, cn=0.4), SHARES, 0.4), ALPHA)
    assert none == pytest.approx((0, 0), abs=1e-9)
    assert 0 < some[0] < some[1] < 0.4


@pytest.mark.slow
def test_what_a_side_explains_is_what_its_pairs_have_in_common_in_drawn_studies() -> None:
    effects = fit_effects(Effects(hs=0.4, cn=0.4), SHARES, 0.6)
    places = place_labels(OverlapSize(80, 80, 4, {2: 6400}), 3)
    answer, parts = answer_by_effects(effects), []
    for at in range(40):
        study = measure_pilot(replace(places, klass=answer(places, np.random.default_rng([1, at]))), ALPHA)
        assert isinstance(study, Pilot)
        parts.append((study.parts.hs, study.parts.cn))
    assert explained_variances(effects, ALPHA) == pytest.approx(np.mean(parts, axis=0), rel=0.2)
