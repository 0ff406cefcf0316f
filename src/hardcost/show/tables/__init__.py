"""Tables as values, which a terminal and a page both show.

Nothing here prints. Each file says how many rows its table has.

- `layout.py`: a table as a value, and how it is fitted to a terminal's width
- `matrix.py`: metrics down or across
- `equal_rows.py`: one row of numbers for neighbours with equal ones
- `first_screen.py`: the beginning of a bill: lines and widths; which controls come is decided in
  `show/sentences/answer.py`
- `bill.py`, `several.py`, `accounting.py`, `time_and_count.py`: parts of bills
- `run.py`, `workload_families.py`, `published.py`, `steps.py`, `machines.py`: of studies
- `choice.py`, `compare.py`, `gate.py`, `hotspots.py`, `source_listing.py`, `trace.py`: of others
- `recorders.py`, `counters.py`: what was observed beside metrics
"""
