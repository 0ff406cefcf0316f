"""A file for each diagnostic: its code, its level, its documentation, and how it is found.

No rule has two diagnostics for one fault: a file imports another one only to leave out what that
one reports.
"""
