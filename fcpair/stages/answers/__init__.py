"""Answers of people and models: prompts, what models reply, curation, simulation.

`prompts` fills in what models are asked, `replies` marks what is wrong with their replies and reads their answers to
closed questions, and `curation` measures what people changed in a given text.
"""
