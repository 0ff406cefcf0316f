"""Whether two sets of rules record the same: a proof, a counterexample, or "unknown".

A counterexample is checked against the semantics before anybody sees it. Nothing is assumed that
the answer does not list.

`prove.py` compares the classes of calls of `call_classes.py`: by their words, else as
`formulas.py`, which `solver.py` gives to z3, within a bound of processor time. `example.py` makes a
counterexample, `assumptions.py` lists what an answer rests on.
"""
