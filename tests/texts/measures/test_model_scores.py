"""Perplexity and classifier heads, by tiny models that are built here."""

from __future__ import annotations

import math
import string
from pathlib import Path

import numpy as np
import pytest
from models.tiny_cross import save_tiny

from fcpair.errors import InputError, ModelError
from fcpair.texts.measures.measuring import Measured, measure

pytestmark = pytest.mark.torch

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *string.ascii_lowercase]
PLACES = 12


def save_causal(folder: Path, *, zero: bool = False, begins: bool = True) -> str:
    """A GPT-2 of one layer that reads letters; with zero logits it knows nothing at all."""
    import torch
    from transformers import BertTokenizer, GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(WORDS), n_positions=PLACES, n_embd=8, n_layer=1, n_head=2, tie_word_embeddings=False
    )
    model = GPT2LMHeadModel(config)
    torch.nn.init.normal_(model.lm_head.weight, std=0.0 if zero else 1.0)
    model.save_pretrained(folder)
    tokenizer = BertTokenizer(vocab={word: at for at, word in enumerate(WORDS)})
    tokenizer.bos_token = "[CLS]" if begins else None
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_causal(tmp_path_factory.mktemp("causal"))


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny(tmp_path_factory.mktemp("classifier"), 3).folder


def values(measured: Measured) -> list[float]:
    return [float(one) for one in next(iter(measured.values.values())).values]


# -- perplexity


def test_a_model_with_zero_logits_has_its_vocabulary_size(tmp_path: Path) -> None:
    model = save_causal(tmp_path, zero=True)
    found = measure(["a b c", "d"], [f'perplexity:"{model}"', f'perplexity:"{model}"(per_text=true)'])
    assert [one.value for one in found.figures] == pytest.approx([len(WORDS)] * 2)
    assert values(found) == pytest.approx([len(WORDS)] * 2)


def test_perplexity_is_what_the_model_s_own_loss_says(causal: str) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(causal)
    ids = torch.tensor([[WORDS.index(one) for one in ("[CLS]", "a", "b", "c")]])
    expected = math.exp(float(model(ids, labels=ids).loss.detach()))
    found = measure(["a b c", "z y x w v"], [f'perplexity:"{causal}"(per_text=true)'])
    assert values(found)[0] == pytest.approx(expected, rel=1e-5)


def test_of_a_set_every_token_has_the_same_weight(causal: str) -> None:
    texts = ["a b c d e f", "z"]
    each = values(measure(texts, [f'perplexity:"{causal}"(per_text=true)']))
    pooled = measure(texts, [f'perplexity:"{causal}"']).figures[0]
    assert pooled.value == pytest.approx(math.exp((6 * math.log(each[0]) + math.log(each[1])) / 7))
    assert pooled.rule == "token-weighted"


def test_a_text_of_which_no_token_is_foretold_is_undefined(tmp_path: Path) -> None:
    model = save_causal(tmp_path, begins=False)
    found = measure(["", "a", "a b"], [f'perplexity:"{model}"'], groups=["x", "x", "y"]).figures
    assert [one.n for one in found] == [1, 0, 1]
    assert (found[1].value, found[1].undefined) == (None, "no token of any text is predicted")
    assert found[0].left_out == {"no token of it is predicted": 2}


def test_a_text_that_is_longer_than_the_model_reads_is_cut_and_counted(causal: str) -> None:
    found = measure(["a " * 30, "b"], [f'perplexity:"{causal}"'])
    assert found.notes[0].endswith(f": tokens predicted in all texts: {PLACES}")
    assert found.notes[1].endswith("whose ends were cut: 1")


def test_a_masked_model_which_sees_what_follows_is_refused(tmp_path: Path) -> None:
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8
    )
    BertForMaskedLM(config).save_pretrained(tmp_path)
    BertTokenizer(vocab={word: at for at, word in enumerate(WORDS)}).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="was saved as BertForMaskedLM, not as a causal model"):
        measure(["tea"], [f'perplexity:"{tmp_path}"'])


# -- heads


def test_a_head_gives_the_probability_of_the_label_that_is_named(classifier: str) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(classifier)
    model = AutoModelForSequenceClassification.from_pretrained(classifier).eval()
    with torch.inference_mode():
        logits = model(**tokenizer(["tea", "we bake"], padding=True, return_tensors="pt")).logits
    expected = logits.softmax(dim=1).numpy()
    for at in range(3):
        found = measure(["tea", "we bake"], [f'head:"{classifier}"(label=label_{at})'])
        np.testing.assert_allclose(values(found), expected[:, at], atol=1e-6)


def test_a_head_of_pairs_reads_the_column_before_the_text(classifier: str) -> None:
    texts, hs = ["tea", "tea", "tea"], ["coffee", "milk", " "]
    name = f'head:"{classifier}"(label=LABEL_1,beside=hs)'
    found = measure(texts, [name], beside={"hs": hs})
    assert len(set(values(found)[:2])) == 2
    assert found.figures[0].left_out == {"there is nothing in `hs`": 1}
    other_way = measure(hs[:1], [name], beside={"hs": texts[:1]})
    assert values(other_way)[0] != pytest.approx(values(found)[0])


def test_a_head_of_one_label_gives_a_probability_by_the_logistic_function(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = save_tiny(tmp_path).folder
    logit = AutoModelForSequenceClassification.from_pretrained(folder).eval()(
        **AutoTokenizer.from_pretrained(folder)("tea", return_tensors="pt")
    )
    expected = float(torch.sigmoid(logit.logits.detach())[0, 0])
    assert values(measure(["tea"], [f'head:"{folder}"(label=LABEL_0)'])) == pytest.approx([expected], abs=1e-6)


def test_a_text_without_a_token_is_undefined_for_a_head(classifier: str) -> None:
    found = measure([" "], [f'head:"{classifier}"(label=LABEL_0)']).figures[0]
    assert (found.value, found.left_out) == (None, {"it has no token": 1})


def test_a_model_of_another_kind_and_what_is_not_there_are_refused(
    encoder: str, classifier: str, regression: str
) -> None:
    for name, message in (
        (f'head:"{classifier}"(label=LABEL1)', "has no label `LABEL1`; did you mean `LABEL_1`"),
        (f'head:"{classifier}"(label=LABEL_0,beside=hss)', "there is no column `hss`; did you mean `hs`"),
        (f'head:"{encoder}"(label=LABEL_0)', "was saved as BertModel, not as a model that classifies texts"),
        (f'perplexity:"{encoder}"', "was saved as BertModel, not as a causal model"),
        (f'regression:"{classifier}"', "has 3 labels, where a regression has one output; head:"),
    ):
        with pytest.raises((InputError, ModelError), match=message):
            measure(["tea"], [name], references=[["tea"]], beside={"hs": ["x"]})
    with pytest.raises(InputError, match="name the columns that hold them"):
        measure(["tea"], [f'regression:"{regression}"'])


def test_a_model_that_foretells_numbers_is_refused(tmp_path: Path) -> None:
    folder = Path(save_tiny(tmp_path).folder)
    config = (folder / "config.json").read_text("utf-8")
    (folder / "config.json").write_text(config.replace("{", '{"problem_type": "regression",', 1), "utf-8")
    with pytest.raises(ModelError, match="predicts numbers, not labels"):
        measure(["tea"], [f'head:"{folder}"(label=LABEL_0)'])


# -- regressions


@pytest.fixture(scope="module")
def regression(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny(tmp_path_factory.mktemp("regression")).folder


def test_a_regression_gives_the_model_s_own_number_for_the_reference_and_the_text(regression: str) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(regression)
    model = AutoModelForSequenceClassification.from_pretrained(regression).eval()

    def own(reference: str, text: str) -> float:
        with torch.inference_mode():
            return float(model(**tokenizer(reference, text, return_tensors="pt")).logits[0, 0])

    texts, references = ["tea", "a cup", "bread"], [["coffee", "more tea"], ["cups"], []]
    found = measure(texts, [f'regression:"{regression}"'], references=references)
    best = [max(own(one, "tea") for one in references[0]), own("cups", "a cup")]
    assert values(found)[:2] == pytest.approx(best, rel=1e-5)
    assert own("cups", "a cup") != pytest.approx(own("a cup", "cups"), rel=1e-3)
    assert (found.figures[0].n, found.figures[0].left_out) == (2, {"it has no reference with a token": 1})
    assert found.figures[0].value == pytest.approx(np.mean(best), rel=1e-5)
    assert "its range is the model's own" in found.notes[0]


def test_pairs_that_are_longer_than_a_regression_reads_are_cut_and_counted(regression: str) -> None:
    found = measure(["a " * 90], [f'regression:"{regression}"'], references=[["b"]])
    assert found.notes[1].endswith("pairs longer than the model reads, whose ends were cut: 1")
