"""Output to a person: results, progress, notes, errors, and results as data.

Nothing here knows a verb.

- `console.py`: prints lists, notes and errors; widths, and the lines of a guest's log
- `tables.py`: draws tables of rows
- `progress.py`: shows a run as it goes: bars, plain lines or JSON, and how often
- `progress_events.py`: the events that `--progress json` prints
- `data.py`: chooses how results are printed or written as CSV, Parquet and Markdown

Tables, JSON and bytes are printed by `auditrules/cli/results.py`. The formats are in
`show/exports/`, tables and their layout in `show/tables/`. How long work takes is estimated and
put into words in `measure/expected_time.py`.
"""
