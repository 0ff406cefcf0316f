"""The ways to a bill: single trials, a search, several profiles side by side.

What two ways share stands here once.

`single.py`, `search.py` and `several.py` are the ways. `budgets.py` proposes what to leave out and
has it measured, `weights.py` ranks controls, `prediction.py` and `defaults.py` add what is known
without measuring.
"""
