"""Shards for other annotation tools, and what these tools export.

`annotation_tool` says what every tool gives and takes, and is the one place for the checks of what exports say;
`catalogue` has the tools.
"""
