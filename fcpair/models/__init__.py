"""Everything that finds, loads, asks or remembers a model.

`model_files.py` finds weights; `encode.py`, `cross_encoder.py` and `transformer.py` alone load them; `encoder.py`
says what a backend does, and `pytorch.py` and `onnx.py` are the two there are. `http.py` alone speaks HTTP, within a
deadline and a cap, for `service.py` (chat models) and `grammar.py`. `cached_requests.py`, `cache.py` and
`vector_cache.py` keep what was answered or computed. `answering_models.py` asks the models that answer a round,
`local_generation.py` has those of this machine write; `language.py`, `grammar.py` and `similarity.py` look at texts
that people write.
"""
