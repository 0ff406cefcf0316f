"""Tables as values, which a terminal and a page both show.

Nothing here prints.

`layout.py` is the table as a value; each other file makes one kind of table.
"""
