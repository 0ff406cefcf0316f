"""Prices of rules in nanoseconds, fitted to a machine that is there already.

A price says its interval, and how far predictions were off on sets that it was not fitted from.

`rule_sets.py` are timed in `rounds.py`, `fit.py` fits constants, `validation.py` checks them on
other sets, `prices.py` keeps them.
"""
