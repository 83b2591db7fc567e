"""Starting a study in the browser, from an uploaded table to the invite links."""
