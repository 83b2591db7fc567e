"""Answers of people and models: online, on sheets, from files, from models, and taking them back.

Online: `work_queue.py` hands out, `submissions.py` takes. On sheets: `sheets.py`, read by `label_files.py` (grid
`main`) and `answer_tables.py` (any round), recorded by `answer_import.py`. Of models: `generate.py`, with
`examples.py`. Taken back: `withdraw.py` and `dismissal.py`.
"""
