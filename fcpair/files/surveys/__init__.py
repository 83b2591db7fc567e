"""Files of surveys, templates and items: our own, BBQ and KoBBQ."""
