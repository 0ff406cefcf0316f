"""The verbs of `hardcost rules`, as functions.

What can be said of rules is said in `auditrules`; here they are found and measured.

A file for each verb; `reading.py` reads the rules that are named.
"""
