"""The words of a report: the answer first, in sentences of at most three numbers.

A terminal and a page say the same sentences.

`answer.py` is the answer of a bill; `run.py`, `choice.py`, `gate.py`, `hotspots.py` and `trace.py`
are those of the others.
"""
