"""Answers of people and models: prompts, what models reply, curation, simulation.

`prompts.py` fills in what a model is asked; `reply_flags.py` marks what is amiss with a reply, such as a refusal;
`option_probabilities.py` reads which answer a model gave.
"""
