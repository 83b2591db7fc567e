"""Answers of people and models."""
