"""The store: one SQLite file with every run and trial.

Each trial is saved as it ends, and each row is compared with its digest when it is read. Nothing
here estimates anything.

`database.py` recognises and opens the file, `rows.py` reads it, `store.py` writes it;
`read_only.py` is a look that changes nothing. docs/results.md has the schema.
"""
