"""The calls: a frozen request in, what was found out.

Nothing here prints or measures. Files are written only by lint's repairs and comments.

A file for each verb; `caller.py` is what whoever calls provides, `arguments.py` finds the rules
that arguments name, `reading.py` reads and loads them, `target.py` describes the machine that they
are for.
"""
