"""Observations of recorders, summed over the trials of a configuration.

Nothing here is a cost.

- `observations.py`: totals, shares of processes, and series over time; which processes are merged
- `counters.py`: hardware counters of each call

What a recorder reports of one trial is in `instruments/`.
"""
