"""Everything that finds, loads, asks or remembers a model.

`model_files` finds weights. `encode` (vectors of texts and of tokens), `cross_encoder` (scores of pairs) and
`transformer` (what a classifier or a causal model says of texts) are the only ones that load them; `local_generation`
gets its models from these, and `cluster` does what `encode` does in pieces. `encoder` has the backends of `encode`.

`http` is the one place for requests, within a deadline and a cap: for `service` (models) and `grammar`. `cache` keeps
what was answered or computed. `answering_models` asks the models that answer a round. `language`, `grammar` and
`similarity` look at texts that people write.
"""
