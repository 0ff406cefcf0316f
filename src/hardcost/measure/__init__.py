"""Trials become records: only here do machine, controls, workload and instrument meet.

Whatever could change a trial's samples is in its identity. Nothing here prints: what happens goes
to a `Monitor`. Whoever runs trials yields records; only `Run` writes them.

- `run.py`: a run: takes from the store what it has, measures the rest, saves each record
- `prepare.py`: boot, job and identity of each trial; refuses what the machine can't do
- `carry_out.py`: all that a run lacks, in order: boot lines asked about, kernels, boots, trials
- `parallel.py`: many trials; `execute.py`: one, and how many seconds it may take
- `boot_parameters.py`: has kernels asked about boot words, and notes what they say
- `asking.py`: the one loop that asks: questions of a coroutine, answered until there is a result
- `search.py`: measures what a search of `plan/search/` asks
- `precision.py`: how many rounds of timed trials, and which blocks are replaced
- `control_failures.py`: finds the controls that a guest does not bear
- `chance.py`: what a real machine can distinguish, for `doctor`
- `remaining_work.py`: what a plan still lacks; `expected_time.py`: how long that takes: ranges,
  guesses for what never ran, and their words
- `monitor.py`: the events that progress is shown from

Earlier times are kept in the store and in `supply/cache/setup_times.py`. The order in which trials
start is in `plan/factorial.py`.
"""
