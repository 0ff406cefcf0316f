"""The bill: a profile's cost, itemised by control, and what to say of each number.

A bill adds up to the last digit. A cost that placebos reach is not called distinguishable.

`itemise.py` makes the bill of single trials, `culprits.py` that of a search. The other files each
say one thing of a bill; `uncounted.py` says what an instruction count does not show.
"""
