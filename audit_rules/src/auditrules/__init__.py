"""What can be said of Linux audit rules without loading them: what they mean, cost and equal.

The real kernel is right: where it differs from these semantics, they are corrected. Nothing here
imports hardcost, boots anything, or decides by what a path is called (a price may, and says so).

A line goes from `read/` by `auditctl/` and `load/` to rules of `model/`, which `kernel/` judges;
`tables/` has the numbers of calls by release. Prices are `cost/`'s, proofs `prove/`'s. Measurements
that fit the constants of prices are hardcost's (`calibration/`).
"""
