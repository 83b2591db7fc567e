"""Answers of people and models: prompts, what models reply, curation, simulation.

`prompts` fills in what models are asked, `reply_flags` marks what is wrong with their replies, `option_probabilities`
reads their answers to closed questions, and `curation` measures what people changed in a given text.
"""
