"""Assignment of work to people: which rounds can follow each other (`plan`), who gets which pairs (`assign`, `rounds`),
what an overlap costs and narrows (`overlap_plan`, `width_sources`), how long it takes (`pace`).
"""
