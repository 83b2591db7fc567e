"""Everything that finds, loads, asks or remembers a model.

`model_files` finds weights. `encode` (vectors of texts and of tokens) and `transformer` (what a classifier, a causal
model or a cross-encoder says of texts) are the only ones that load them; `cluster` does what `encode` does in pieces.

`service` is the one place for requests, within a deadline and a cap: of models, and for `grammar`. `cache` keeps what
was answered or computed. `answering_models` asks the models that answer a round. `language`, `grammar` and `similarity`
look at texts that people write.
"""
