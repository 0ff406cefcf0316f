"""Lines, files and folders of rules, read as auditctl and augenrules read them.

One faulty line never refuses a file: it is a fault with its location, and the others are read.

`parse.py` reads files and folders, `line.py` one line, `control_lines.py` those that are no rules
(-e, -b), `folder.py` knows augenrules' order.
"""
