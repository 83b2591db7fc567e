"""Answers of people and models: labels, answers, generate, examples, curation, simulate."""
