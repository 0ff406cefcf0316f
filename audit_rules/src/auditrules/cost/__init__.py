"""What a set of rules costs each call, predicted from constants that were measured.

A price is a prediction and is called one. What can't be predicted has a reason instead of a 0.

`predict.py` walks one call, `histogram.py` and `totals.py` price a mix of calls. `constants/` has
what was measured, `events.toml` the typical calls.
"""
