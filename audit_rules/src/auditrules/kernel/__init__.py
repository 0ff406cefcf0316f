"""The kernel's decision on a system call under a set of rules, to be read beside its source.

Nothing here knows of files of rules, prices or proofs.

- `semantics.py`: the walk: order of lists and rules, buckets, who decides, which key
- `field_tests.py`: whether one condition holds, for a call or a file; comparisons and permissions
- `records.py`: which records an event has, and which of them the list `exclude` drops
- `event.py`: a call and its files as the filter sees them, and the names that a call gives
- `conditions.py`: what conditions exclude and imply (no event is needed)
- `signal_calls.py`: when the receivers of signals are recorded

Which calls a permission or class stands for is in `tables/`; how a rule is held, and which rule is
a duplicate, in `model/`.
"""
