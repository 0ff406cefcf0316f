"""A cheaper set of rules that records the same.

No set leaves here without a proof.

`optimize.py` is the search, `changes.py` the changes that it tries, `result.py` its result,
`output.py` the file.
"""
