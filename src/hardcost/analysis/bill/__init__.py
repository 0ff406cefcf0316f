"""The bill: a profile's cost, itemised by control, and the remarks on each number.

A bill adds up to the last digit. A cost that placebos reach is not called distinguishable.

- `itemise.py`: totals and items out of single trials
- `culprits.py`: the same out of a search, with its steps; the metric that a search follows
- `significance.py`: which costs of several trials count, and which go into the rest
- `fixed_price.py`: what having any audit rule costs
- `weights.py`: the order of controls, the metric that leads, the average call
- `mix.py`: the mean call of a user's histogram, and which kernel calls a metric counts for
- `budget.py`: whether metrics are within a budget, which control goes next, how budgets are rounded
- `time_and_count.py`: times beside counts, from which factor on they disagree, and why
- `prediction.py`: what the cost model and lint say of each rule, beside its measurement
- `coverage.py`: controls that no metric exercised
- `uncounted.py`: caveats where a count does not show the whole cost (data: `controls/`)
- `accounting.py`: what became of each rule of a benchmark's profile, once measured

The usual mix of calls, and reading a histogram, is `cost/histogram.py` of `auditrules`. How sure a
cost has to be is in `analysis/estimates/`. How figures are rounded, and how many controls are
listed, is in `show/bill_rows.py` and `show/sentences/answer.py`.
"""
