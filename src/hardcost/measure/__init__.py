"""Trials become records: only here do machine, controls, workload and instrument meet.

Whatever could change a trial's samples is in its identity. Nothing here prints: what happens goes
to a `Monitor`. Whoever runs trials yields records; only `Run` writes them.

`prepare.py` works a trial out, `execute.py` carries one out, `parallel.py` many; `carry_out.py`
does all that a run lacks, and `run.py` is the run. `precision.py` adds blocks of timed trials,
`control_failures.py` finds controls that a guest does not bear. `remaining_work.py` is what a plan
still lacks, `expected_time.py` how long that takes, by what earlier work took.
"""
