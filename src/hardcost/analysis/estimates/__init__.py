"""Estimates with their intervals, and what chance alone can make.

Costs and totals come from the same estimator.

`estimates.py` is for counts: medians, and means of the middle of perturbed ones. `bootstrap.py` is
for times. `geometric_mean.py` is one figure over many metrics. `resolution.py` finds the least cost
that placebos do not reach.
"""
