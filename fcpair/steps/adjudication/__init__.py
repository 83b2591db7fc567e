"""From several labels to one: agreement, conflicts, the queue of adjudicators, decisions, and the map of a grid."""
