"""From several labels to one: agreement, adjudicate."""
