"""What comes of a study: tiers, evaluation, exports."""
