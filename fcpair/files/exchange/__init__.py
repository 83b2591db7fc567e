"""Shards for other annotation tools, and what these tools export: one module for each tool.

`annotation_tool` says what every tool gives and takes, and `catalogue` lists the tools. `export_files` opens exports;
`exported_answers` is the one place for the checks of what they say.
"""
