"""Answers of people and models: online, on sheets, from files, from models, and taking them back.

`work_queue` gives one person's next pair, and `submissions` records what is answered online. `file_cells` finds the
cell that a row of a file is about. `dismissal` is the one place for what becomes of the answers of somebody who is let
go, `withdraw` for taking back what a run brought.
"""
