"""The calls: a frozen request in, a result out.

Nothing here prints or measures. Files are written only by lint's repairs and comments.

- `cost.py`, `explain.py`, `lint.py`, `optimize.py`, `prove.py`: a call of that name and its request
- `reading.py`: reads and loads the rules of a request; which faults end a call
- `arguments.py`: which arguments are files, rules or names; standard input
- `caller.py`: what whoever calls hears and knows
- `target.py`: the machine that rules are for, as files describe it
- `histogram.py`: a mix of calls in a file; `files.py`: files that a user names, and their errors
"""
