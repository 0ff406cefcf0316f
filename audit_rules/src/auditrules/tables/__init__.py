"""Numbers and names of system calls, errors and records.

Facts only: no rule is looked at here.
"""
