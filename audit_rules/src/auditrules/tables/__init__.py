"""Numbers and names of system calls, errors and records.

Facts only: no rule is looked at here.

`lookup.py` reads the tables, and has architectures, file types, file systems, and the known
releases of Linux and auditctl. `syscalls-*.tsv` are calls by ABI (`newer`: those that auditctl does
not know), `permissions.toml` the calls of each permission, `errors.tsv` and `records.tsv` names by
number.
"""
