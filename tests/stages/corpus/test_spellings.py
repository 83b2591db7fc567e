"""Spellings: what counts as the same text, in several scripts; and of nearly the same vectors the first is kept."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from fcpair.stages.corpus import spellings
from fcpair.stages.corpus.nearest_neighbours import DECIMALS
from fcpair.stages.corpus.spellings import first_spellings, fold_spelling
from fcpair.stages.corpus.text_identity import Folding

SIGNS = "aAbé\u0301ßẞıİﬁ½²カｶﾞ가각ي یىكک\u0640\u200c\u200b\u00ad\ufe0f\u034f\u00a0\u3000\t '’\"“«»`´ŉ·.!ʼ\u0345ΐ"
TEXTS = st.text(st.sampled_from(SIGNS), max_size=12)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café au lait", "CAFE\u0301 AU LAIT"),  # NFC and NFD
        ("They\u00a0do, every\u200bwhere", "They do, everywhere"),  # a no-break space, and one without any width
        ("“It’s ‘fine’”", "\"It's 'fine'\""),
        ("«Non»", '"non"'),
        ("''quoted''", "quoted"),
        ("it´s", "its"),
        ("co\u00adoperate\ufeff", "cooperate"),  # a soft hyphen, a byte order mark
        ("❤\ufe0f ok", "❤ ok"),  # how the heart is drawn
        ("Straße", "STRASSE"),
        ("ﬁne ＡＢＣ", "fine abc"),  # a ligature, full-width letters
        ("می\u200cخواهم", "می خواهم"),  # the half-space of Persian
        ("ﻼ", "لا"),  # a presentation form
        ("ガ", "ｶﾞ"),
        ("각", unicodedata.normalize("NFD", "각")),
        ("tabs\tand\n\nlines", "tabs and lines"),
    ],
)
def test_two_spellings_of_one_text_have_the_same_fold(one: str, other: str) -> None:
    assert fold_spelling(one) == fold_spelling(other)
    assert first_spellings([one, "another", other]).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("one", "other"), [("yes", "yes."), ("resume", "résumé"), ("1 2", "1,2"), ("على", "علی"), ("كتاب", "کتاب")]
)
def test_what_else_differs_makes_another_text(one: str, other: str) -> None:
    assert fold_spelling(one) != fold_spelling(other)


@pytest.mark.parametrize(("one", "other"), [("على", "علی"), ("كتاب", "کتاب"), ("ســلام", "سلام"), ("ﻛﺘﺎﺏ", "کتاب")])
def test_arabic_forms_are_folded_where_the_study_folds_them(one: str, other: str) -> None:
    assert fold_spelling(one, "arabic") == fold_spelling(other, "arabic")


@given(TEXTS, st.sampled_from(["none", "arabic"]))
def test_folding_again_changes_nothing(text: str, folding: Folding) -> None:
    folded = fold_spelling(text, folding)
    assert fold_spelling(folded, folding) == folded
    assert fold_spelling(text.upper(), folding) == fold_spelling(text.upper().lower(), folding)


@given(st.lists(TEXTS, min_size=1, max_size=12))
def test_each_text_is_a_spelling_of_exactly_one_first_and_of_these_no_two_are_alike(texts: list[str]) -> None:
    first = first_spellings(texts).tolist()
    keys = [fold_spelling(text) for text in texts]
    assert first == [keys.index(key) for key in keys]
    kept = [texts[at] for at in sorted({*first})]
    assert first_spellings(kept).tolist() == [*range(len(kept))]


@given(arrays(float, st.tuples(st.integers(1, 30), st.just(3)), elements=st.floats(-1, 1)), st.floats(0.3, 1))
def test_of_close_vectors_the_first_that_is_kept_stands_for_the_others(values: np.ndarray, least: float) -> None:
    """Against scipy's cosines and a loop: each is a spelling of the first kept one before it that is close enough."""
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    vectors = np.where(norms > 1e-6, values / np.maximum(norms, 1e-6), [1.0, 0.0, 0.0]).astype(np.float32)
    close = np.round(1 - cdist(vectors.astype(float), vectors.astype(float), "sqeuclidean") / 2, 12)
    cosines = np.round(vectors.astype(float) @ vectors.astype(float).T, DECIMALS)
    np.testing.assert_allclose(cosines, close, atol=1e-5)
    expected = list[int]()
    for at in range(len(vectors)):
        leaders = (one for one in range(at) if expected[one] == one and cosines[one, at] >= least)
        expected.append(next(leaders, at))
    bodies = [str(at) for at in range(len(vectors))]
    assert first_spellings(bodies, vectors=vectors, least=least).tolist() == expected


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(3).normal(size=(200, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    bodies = [str(at // 2) for at in range(200)]
    whole = first_spellings(bodies, vectors=vectors, least=0.6)
    monkeypatch.setattr(spellings, "ROWS", 7)
    monkeypatch.setattr(spellings, "COLUMNS", 11)
    assert first_spellings(bodies, vectors=vectors, least=0.6).tolist() == whole.tolist()
    assert len({*whole.tolist()}) < 100


def test_real_corpora_have_a_few_spellings(data: Path) -> None:
    """All languages of CONAN, and Multitarget-CONAN, whose texts differ by digest: texts, groups, spellings."""
    conan = pd.read_csv(data / "conan" / "CONAN.csv", keep_default_na=False)
    target = pd.read_csv(data / "mt-conan" / "Multitarget-CONAN.csv", keep_default_na=False)
    sides = (conan["hateSpeech"], conan["counterSpeech"], target["HATE_SPEECH"], target["COUNTER_NARRATIVE"])
    counts = []
    for side in sides:
        texts = [*dict.fromkeys(unicodedata.normalize("NFC", text).strip() for text in side)]
        first = first_spellings(texts)
        of_others = np.flatnonzero(first != np.arange(len(texts)))
        counts.append((len(texts), len({*first[of_others].tolist()}), len(of_others)))
    assert counts == [(856, 1, 1), (6803, 6, 6), (3718, 9, 9), (4997, 0, 0)]
    assert fold_spelling("Muslims are anti-semitic.") == fold_spelling("Muslims are anti-Semitic.")  # that of the HS
