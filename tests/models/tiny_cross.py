"""A cross-encoder that is made in a moment and knows nothing, but always the same."""

from __future__ import annotations

import string
from pathlib import Path

from fcpair.models.model_files import Model, resolve


def save_tiny(folder: Path, n_labels: int = 1, *, head: bool = True) -> Model:
    """A BERT of one layer with weights drawn by seed, and a vocabulary of letters."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    letters = [*string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    config.num_labels = n_labels
    (BertForSequenceClassification if head else BertModel)(config).save_pretrained(folder)
    BertTokenizer(vocab={word: at for at, word in enumerate(words)}).save_pretrained(folder)
    return resolve(str(folder))
