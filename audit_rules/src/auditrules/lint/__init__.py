"""Faults and wasted work in rules: diagnostics, each with its location and its remedy.

A claim is certain or is not made.

`checks.py` lists the findings, `context.py` is what each is given, `prices.py` and `supersets.py`
are what they share.
"""
