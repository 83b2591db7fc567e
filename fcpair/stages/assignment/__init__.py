"""Assignment of work to people: shards, rounds, leases, further labels, and what it costs them.

`plan` says which rounds can follow each other, `rounds` assigns them, and more once people are at work, `assign` makes
the shards of a grid of labels. `overlap_plan` says beforehand what an overlap costs and
narrows, `width_sources` where its widths come from. `pace` says how long it takes.
"""
