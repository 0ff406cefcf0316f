"""What the kernel does with a set of rules and a system call, to be read beside its source.

Nothing here knows of files of rules, prices or proofs.

`semantics.py` is the walk, `field_tests.py` one condition, `records.py` which records are written;
`conditions.py` is what conditions exclude and imply.
"""
