"""The use cases of a study: each loads, calls the pure stage, and saves in one transaction.

This is the only floor where a stage meets the store. What takes long runs between a short transaction that reads and
one that writes, which begins with `Basis.check_unmoved` (`base/context.py`). A use case takes `StudyContext` or
`GridContext` as its first parameter; its docstring is the public one, as `Study` and `Grid` bind it as a method by
plain assignment through `use_cases.py`, which loads each when it is first called: list a new module there.
"""
