"""Rules as values: as they are written, and as the kernel holds them.

Nothing here reads a file, and nothing here decides what a rule does.

`rule.py` is a line as it was written, `kernel_rule.py` what the kernel holds, `kernel_lists.py` in
which order; `fault.py` and `errors.py` are what is wrong with them.
"""
