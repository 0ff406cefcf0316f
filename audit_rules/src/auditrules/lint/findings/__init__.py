"""A file for each diagnostic: its code, its level, its documentation, and how it is found.

`findings` is also their key in the JSON of lint; elsewhere a finding is what a run found.

No rule has two diagnostics for one fault: a file imports another one only to leave out what that
one reports.

A file has its code's name (`high-volume` is `high_volume.py`), and its own numbers and lists: the
calls of `high_volume.py`, the least backlog of `small_backlog.py`, the least saving of
`costly_order.py`, the names that are taken for files in `dir_for_file.py`. Where it counts (how
many are compared or shown), that is decided there, too. The order of all is in `lint/checks.py`,
and their common prices in `lint/prices.py`.
"""
