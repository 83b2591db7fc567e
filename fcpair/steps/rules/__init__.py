"""Rules that every way into the study follows: permissions, decisions by rule, checks of texts, counts."""
