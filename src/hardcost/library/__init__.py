"""The calls: a frozen request in, a finding out.

Nothing here prints, exits, or names an option. A request is checked before anything is fetched or
booted.

A call and its request are in the file of the call's name. `measurement.py` is what all that measure
share, `profiles.py` finds the profiles that are named, `choices.py` measures what `advise` asks,
`least_budget.py` finds the budget that `advise` offers where nothing fits, `interrupt.py` and
`terminal.py` end a run in good order.
"""
