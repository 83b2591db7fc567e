"""From several labels to one: agreement, conflicts, the queue of adjudicators, decisions.

Who may decide which pair is in `rules/permissions.py`; decisions by rule are in `rules/rule_decisions.py`. Here a
person decides: `adjudication_queue.py` is the one queue of pages, API, dialogue and Python, with `case_queues.py` for
which cases come in which order, and for label models, which decide nothing; `adjudicate.py` has policies, sheets and
files, and has a person decide what labels or a rule have settled. `discussion.py` has what people see of each other's
answers in a calibration, agreement before and after it, and on which decisions the guidelines should say more.
`cell_map.py` has what was answered and decided on every cell at once.
"""
