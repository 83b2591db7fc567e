"""Answers of people and models: prompts, what models reply, curation, simulation.

`model_spec` has models and fills in what they are asked, `replies` marks what is wrong with their replies and reads
their answers to closed questions, and `curation` measures what people changed in a given text.
"""
