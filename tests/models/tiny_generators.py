"""Models that generate texts, made in a moment, with weights drawn by seed: they know nothing, but always the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = [
    *("[PAD]", "[UNK]", "[EOS]"),
    *("tea", "is", "for", "cowards", "brave", "people", "like", "it", "cats", "are", "warm"),
]
PROMPTS = ["tea is for cowards", "cats are warm", "people like tea", "it", "cats", *["brave " * n for n in range(2, 9)]]
CHAT = "{% for one in messages %}people {{ one['content'] }}{% endfor %} like"


def tokenizer_of_words(*, chat: bool = False, places: int = 24) -> Any:
    """A tokenizer of whole words by white space, with room for so many of them."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    kind: Any = PreTrainedTokenizerFast
    made = kind(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]", eos_token="[EOS]", model_max_length=places
    )
    if chat:
        made.chat_template = CHAT
    return made


def save_t5(folder: Path) -> str:
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    ends = {"decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 2}
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    kind: Any = T5Config  # whose stubs do not know all that it takes
    config = kind(vocab_size=len(WORDS), **sizes, **ends, tie_word_embeddings=False)
    model = T5ForConditionalGeneration(config)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=1.0)
    model.save_pretrained(folder)
    tokenizer_of_words().save_pretrained(folder)
    return str(folder)


def save_gpt2(folder: Path, *, chat: bool = False, samples: bool = False) -> str:
    """A GPT-2 of one layer; one that `samples` says in its settings that its texts are to be drawn."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(WORDS), n_positions=24, n_embd=16, n_layer=1, n_head=2, eos_token_id=2, bos_token_id=2,
        initializer_range=1.0, tie_word_embeddings=False,
    )  # fmt: skip
    model = GPT2LMHeadModel(config)
    if samples:
        model.generation_config.do_sample, model.generation_config.temperature = True, 5.0
    model.save_pretrained(folder)
    tokenizer_of_words(chat=chat).save_pretrained(folder)
    return str(folder)
