"""Answers of people and models: online, on sheets, from files, from models, and taking them back."""
