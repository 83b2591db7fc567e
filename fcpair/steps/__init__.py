"""The use cases of a study: each loads, calls the pure stage, and saves in one transaction, and leaves a run behind.

This is the only floor where a stage meets the store. What takes long runs between a short transaction that reads and
one that writes, which begins with `Basis.check_unmoved` (`base/context.py`). A room imports only those before it: base,
people, rules, corpus, assignment, answers, then adjudication, release and surveys side by side, then oversight, then
publication.

`use_cases` loads a module when one of its functions is first called through `Study` or `Grid`: list a new one there.
"""
