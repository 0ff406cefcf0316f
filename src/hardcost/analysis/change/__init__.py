"""The cost of a change, by line: two finished runs, two measured states, or a prediction.

A prediction never stands beside a measurement without saying so.

- `measurement.py`, `prediction.py`, `runs.py`: growth of each metric, for each of the three ways
- `growth.py`: adds limits to growth, and puts lines in order
- `comparison.py`: joins two runs cell by cell, and warns where they are not comparable
- `here.py`: joins two answers of `hardcost here` item by item

Whether a growth is over its limit is decided in `model/finding/change.py`. The states are found in
`library/gates/sides.py`.
"""
