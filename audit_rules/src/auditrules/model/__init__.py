"""Rules as values: as they are written, and as the kernel holds them.

Nothing here reads a file, and nothing here decides what a rule does.

- `rule.py`: a line as it was written, its split into words, the longest line, keys
- `kernel_rule.py`: what the kernel holds: lists, actions, operators, fields
- `kernel_lists.py`: the order of rules, and which of them are the same
- `fault.py`: a fault with its remedy; `location.py`: file, line, column
- `errors.py`: the errors of a user's words and files, and their exit statuses
- `subsets.py`: sets within other sets, found by hash
"""
