"""Prices of rules in nanoseconds, fitted to a machine that is there already.

A price says its interval, and how far predictions were off on sets that it was not fitted from.

- `rule_sets.py`: the sets that are timed, how many copies of a rule, which lengths of lists
- `rounds.py`: times all sets, how many rounds, each in an order of its own; time limits
- `fit.py`: constants and their intervals, and which are too wide to be used
- `validation.py`: other sets, which check the fit
- `prices.py`: what is kept for a machine, and when a kept price is of another machine
"""
