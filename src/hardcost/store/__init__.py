"""The store: one SQLite file with every run and trial.

Each trial is saved as it ends, and each row is compared with its digest when it is read. Nothing
here estimates anything. docs/results.md has the schema.

- `database.py`: recognises, opens and upgrades the file; its schema; failures in words; who
  continues a run, and how long others wait
- `rows.py`: reads rows and compares digests; `store.py`: writes, and finds records again
- `record.py`: what is kept of a trial, and which numbers can be measurements
- `read_only.py`: a look that changes nothing, for lists
- `check.py`: `runs check`; `removal.py`: `runs remove`, by name or age
- `location.py`: where the store and reports are; `run_name.py`: how runs are named

A finding's text is made in `analysis/finding_text.py`. Which records a run takes instead of
measuring is decided in `measure/remaining_work.py`.
"""
