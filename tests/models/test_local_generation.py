"""Texts of local models, against transformers itself, one prompt at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.errors import InputError, ModelError
from fcpair.models.answering_models import Cell, Decoding, Local, generate_texts
from fcpair.models.model_files import resolve
from models.tiny_cross import save_tiny
from models.tiny_generators import PROMPTS, save_gpt2

pytestmark = pytest.mark.torch

SHORT = Decoding(max_new_tokens=6)


def said(folder: str, prompts: list[str] = PROMPTS, decoding: Decoding = SHORT) -> dict[str, str]:
    batches = generate_texts(prompts, resolve(folder), decoding)
    return {prompt: text for some, texts in batches for prompt, text in zip(some, texts, strict=True)}


def alone(folder: str, prompt: str, *, n_beams: int = 1, causal: bool) -> str:
    """What transformers says to one prompt, without padding."""
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = (AutoModelForCausalLM if causal else AutoModelForSeq2SeqLM).from_pretrained(folder).eval()
    ids = tokenizer(prompt, return_tensors="pt")
    found = model.generate(
        **ids, max_new_tokens=6, num_beams=n_beams, do_sample=False, pad_token_id=tokenizer.pad_token_id
    )[0]
    return str(tokenizer.decode(found[ids["input_ids"].shape[1] if causal else 0 :], skip_special_tokens=True))


@pytest.mark.parametrize("n_beams", [1, 3])
def test_a_seq2seq_model_says_in_batches_what_it_says_alone(t5: str, n_beams: int) -> None:
    found = said(t5, decoding=Decoding(max_new_tokens=6, num_beams=n_beams))
    assert found == {prompt: alone(t5, prompt, n_beams=n_beams, causal=False) for prompt in PROMPTS}
    assert len(set(found.values())) > 1


def test_of_a_causal_model_its_own_words_are_the_reply(gpt2: str) -> None:
    found = said(gpt2)
    assert found == {prompt: alone(gpt2, prompt, causal=True) for prompt in PROMPTS}
    assert len(set(found.values())) > 1


def test_a_model_that_would_draw_does_not(tmp_path: Path, gpt2: str) -> None:
    assert said(save_gpt2(tmp_path, samples=True)) == said(gpt2)


def test_a_chat_template_is_used_where_there_is_one(tmp_path: Path, gpt2: str) -> None:
    found = said(save_gpt2(tmp_path, chat=True), ["tea is for cowards"])
    assert found["tea is for cowards"] == alone(gpt2, "people tea is for cowards like", causal=True)


def test_a_prompt_without_room_for_a_reply_is_refused(gpt2: str) -> None:
    with pytest.raises(InputError, match=r'"tea tea.*has 20 tokens, and the model has room for 18'):
        said(gpt2, ["tea " * 20])


def test_a_model_that_does_not_write_is_refused(tmp_path: Path) -> None:
    save_tiny(tmp_path / "bert")
    with pytest.raises(ModelError, match="was saved as BertForSequenceClassification, not as a causal model"):
        said(str(tmp_path / "bert"))


def test_replies_are_kept_for_the_model_its_decoding_and_the_prompt(
    t5: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path))
    seen: list[tuple[int, int]] = []
    local = Local(resolve(t5), "{row} is {column}", SHORT)
    given = [Cell(row, "warm", f"{row} is warm") for row in ("tea", "cats", "tea")]
    assert local.estimate(given) == (2, 0, 6, None)
    first = local.replies(given[:1])
    assert local.estimate(given)[:2] == (2, 1)
    assert local.replies(given, lambda done, n: seen.append((done, n)))[::2] == first * 2
    assert seen == [(1, 1)]
    longer = Local(resolve(t5), "{row} is {column}", Decoding(max_new_tokens=7))
    assert longer.estimate(given).cached == 0


def test_what_a_study_keeps_of_a_local_model(t5: str) -> None:
    record = Local(resolve(t5), "{row}", SHORT).record()
    assert record["sha256"] == resolve(t5).sha256
    assert (record["source"], record["max_new_tokens"], record["prompt"]) == ("local folder", "6", "{row}")
