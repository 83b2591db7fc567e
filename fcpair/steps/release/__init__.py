"""Results of a study: tiers, evaluation, exports."""
