"""The use cases of a study: each loads, calls the pure stage, and saves in one transaction, and leaves a run behind.

This is the only floor where a stage meets the store. What takes long runs between a short transaction that reads and
one that writes, which begins with `Basis.check_unmoved` (`base/context.py`). A room, or a module of this floor, imports
only those before it: base, people, rules, grids, building, assignment, answers, then adjudication, release and survey
side by side, then oversight, release_tables, release_folder.

`use_cases` loads a module when one of its functions is first called through `Study` or `Grid`: list a new one there.
"""
