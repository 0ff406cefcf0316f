"""What goes to a person: results, progress, notes, errors, and results as data.

Nothing here knows a verb.

`console.py` prints, `progress.py` shows a run as it goes, by the events of `progress_events.py`;
`data.py` writes CSV, Parquet and Markdown. Results as tables and JSON are printed by
`auditrules.cli.results`.
"""
