"""Answers of people and models: online, on sheets, from files, from models, and taking them back.

`work_queue` gives one person's next pair, and `submissions` records what is answered online. `answer_import` finds the
cell that a row of a file is about. `withdraw` is the one place for taking back what a run brought, and for what becomes
of the answers of somebody who is let go. `examples` has which examples models may be shown, and when.
"""
