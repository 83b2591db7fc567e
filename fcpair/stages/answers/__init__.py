"""Answers of people and models: specs of models and their prompts, marks on replies, curation, simulation."""
