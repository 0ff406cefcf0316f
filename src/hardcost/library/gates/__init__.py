"""The ways to a gate: two states measured, predicted, or read from results.

A limit is checked against what was found, never against chance alone.

- `sides.py`: finds BASE and HEAD: profiles, results, revisions of git; their names for the reader
- `measure.py`: measures both states; `lines.py`: each line of the change, or groups of them
- `predict.py`: prices both sets of rules; nothing is booted

Files of a revision are copied in `host/git_revision.py`; `analysis/change/` works growth out.
"""
