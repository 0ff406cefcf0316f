"""What runs find: a file for each kind of finding, each of which is its own JSON.

A key that goes, or changes its meaning, needs a new `version`.

`finding.py` lists the kinds, `head.py` is what all have; `cell.py`, `failure.py` and
`observation.py` are parts of a study's.
"""
