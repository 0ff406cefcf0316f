"""The cost of a set of rules for each call, predicted from constants that were measured.

A price is a prediction and is called one. What can't be predicted has a reason instead of a 0.

- `predict.py`: walks one call and prices each test, which tests cost the same (by family of fields,
  operator, permission), and the record
- `constants.py`: reads `constants/*.toml`, in which each step has its number of instructions
- `limits.py`: which costs are not predicted, and why
- `histogram.py`: reads counts of strace, perf, bpftrace or JSON; `general.toml` is the mix of calls
  where the user gives none
- `totals.py`: what a mix costs, by call and by rule
- `events.toml`, read by `events.py`: the typical call for which a price holds, and which calls an
  operation such as `exec` makes
- `call_classes.py`: calls that the rules treat alike, so that each class is walked once
- `idle_rules.py`: rules that cost without firing
- `measurement.py`: values: a prediction beside a measurement, prices in nanoseconds

How the constants are measured and fitted is hardcost's (`calibration/`); whether a test holds is
decided in `kernel/field_tests.py`; what lint says of a price is in `lint/prices.py`.
"""
