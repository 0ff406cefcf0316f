"""The findings of runs: a file for each kind, each of which is its own JSON.

A key that goes, or changes its meaning, needs a new `version`.

- `finding.py`: lists the kinds; `head.py`: what all have
- `bill.py`, `study.py`, `comparison.py`, `trace.py`: the finding of that name
- `calls.py`: hotspots; `choice.py`: advice, its frontier and offers
- `change.py`: a gate, and when a metric is over its limit
- `price.py`: prices of single controls; no run found them
- `here.py`: what is in force on a machine, with prices; `here_comparison.py`: two such answers
- `cell.py`, `failure.py`, `observation.py`: parts of a study's

A gate's JSON is `show/gate_document.py`. Values are worked out in `analysis/`.
"""
