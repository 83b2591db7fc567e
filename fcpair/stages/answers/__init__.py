"""Answers of people and models: prompts, what models reply, curation, simulation."""
