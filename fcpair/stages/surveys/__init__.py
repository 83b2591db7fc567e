"""Surveys: planning one, and counting what was said."""
