"""Probabilities of options by local models, against transformers itself, one option at a time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fcpair.errors import InputError
from fcpair.models.answering_models import Cell, normalise, open_model, option_probabilities
from fcpair.models.model_files import resolve
from fcpair.stages.answers.model_spec import parse_model_spec
from models.tiny_generators import PROMPTS

pytestmark = pytest.mark.torch

OPTIONS = ("tea", "cats are", "warm people like it")


def alone(folder: str, prompt: str, option: str, *, causal: bool) -> float:
    """The log-likelihood of an option after a prompt, token by token."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = (AutoModelForCausalLM if causal else AutoModelForSeq2SeqLM).from_pretrained(folder).eval()
    said = tokenizer(option, add_special_tokens=False)["input_ids"]
    given = tokenizer(prompt)["input_ids"]
    total = 0.0
    with torch.inference_mode():
        for at, token in enumerate(said):
            if causal:
                logits = model(torch.tensor([[*given, *said[:at]]])).logits[0, -1]
            else:
                before = torch.tensor([[model.config.decoder_start_token_id, *said[:at]]])
                logits = model(torch.tensor([given]), decoder_input_ids=before).logits[0, -1]
            total += float(logits.double().log_softmax(-1)[token])
    return total


@pytest.mark.parametrize("causal", [True, False])
def test_options_are_weighed_in_batches_as_one_by_one(t5: str, gpt2: str, causal: bool) -> None:
    folder = gpt2 if causal else t5
    batches = option_probabilities(PROMPTS, OPTIONS, resolve(folder))
    found = {prompt: told for some, all_ in batches for prompt, told in zip(some, all_, strict=True)}
    assert set(found) == set(PROMPTS)
    for prompt, told in found.items():
        logs = np.array([alone(folder, prompt, option, causal=causal) for option in OPTIONS])
        shares, mass = told
        assert shares == pytest.approx(np.exp(logs) / np.exp(logs).sum(), rel=1e-4)
        assert mass == pytest.approx(np.exp(logs).sum(), rel=1e-4)


def test_a_model_of_this_machine_replies_with_probabilities_and_is_asked_once(
    gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path))
    cells = [Cell("tea", "m", "people like tea"), Cell("cats", "m", "cats are warm")]
    asked = open_model(parse_model_spec(f"m=local:{gpt2}"), "{row}", ("tea", "cats"))
    first = [json.loads(reply or "") for reply in asked.replies(cells)]
    assert all(sum(one[name] for name in ("tea", "cats")) == pytest.approx(1) for one in first)
    assert all(0 < one["(all)"] < 1 for one in first)
    assert asked.estimate(cells).cached == 2
    assert open_model(parse_model_spec(f"m=local:{gpt2}"), "{row}").estimate(cells).cached == 0


def test_a_prompt_that_leaves_no_room_for_an_option_is_refused(gpt2: str) -> None:
    with pytest.raises(InputError, match="room for 20"):
        list(option_probabilities(["tea " * 21], OPTIONS, resolve(gpt2)))


def test_shares_of_what_cannot_be_said_are_zero() -> None:
    assert normalise(np.array([-np.inf, -np.inf])) == ((0.0, 0.0), 0.0)
    assert normalise(np.array([0.0, -np.inf])) == ((1.0, 0.0), 1.0)
