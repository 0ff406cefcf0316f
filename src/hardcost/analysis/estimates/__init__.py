"""Estimates with their intervals, and the differences that chance alone can make.

Costs and totals come from the same estimator.

- `estimates.py`: for counts: medians, means of the middle half of perturbed ones, the confidence
  level, the grid of 1/1024; joins trials to cells
- `bootstrap.py`: for times: intervals by resampling blocks, and the fewest blocks
- `disturbance.py`: which timed trials were disturbed, by limits fixed beforehand
- `resolution.py`: the least cost that placebos do not reach, and the rate of false alarms
- `single_draws.py`: resolutions of workloads that are measured once
- `geometric_mean.py`: one figure over many metrics

When enough blocks are measured is decided in `measure/precision.py`, the number of placebos in
`plan/placebo.py`, each workload's resolution in its file in `workloads/`.
"""
