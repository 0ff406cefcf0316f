"""The ways to a gate: two states measured, predicted, or read from results.

A limit is checked against what was found, never against chance alone.
"""
