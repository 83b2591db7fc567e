"""From several labels to one: agreement, conflicts, the queue of adjudicators, decisions.

Who may decide which pair is in `rules/permissions.py`; decisions by rule are in `rules/rule_decisions.py`. Here a
person decides: `adjudication_queue.py` in the browser, with `decision_search.py` for what is decided; `adjudicate.py`
by the dialogue, by file and by policy, with `conflict_sheet.py` for those who work on paper. `flags.py` has the
decisions on which they noted that the guidelines should say more. `decision_requests.py` has a person decide what
labels or a rule have settled. `aggregate.py` has label models, which decide nothing; `doubts.py` the order of cases by
their doubt. `discussion.py` has what people see of each other's answers in a calibration, and `calibration_result.py`
agreement before and after. `cell_map.py` has what was answered and decided on every cell at once.
"""
