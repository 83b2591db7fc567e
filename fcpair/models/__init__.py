"""Everything that finds, loads, asks or remembers a model.

`model_files` finds weights. `encode` (vectors of texts), `cross_encoder` (scores of pairs), `multilabel` and
`transformer` (what a classifier or a causal model says of texts) are the only ones that load them; `token_vectors`,
`local_generation` and `option_likelihoods` get theirs from these. `encoder` says what a backend of `encode` does;
`pytorch` and `onnx` are the two that there are.

`http` is the one place for requests, within a deadline and a cap: for `service` (models) and `grammar`.
`cached_requests`, `cache` and `vector_cache` keep what was answered or computed. `answering_models` asks the models
that answer a round. `language`, `grammar` and `similarity` look at texts that people write.
"""
