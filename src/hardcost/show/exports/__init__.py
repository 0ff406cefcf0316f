"""A file for each format in which findings are written for other programs.

Text of a finding stays text in every format.

- `formats.py`: the list of formats; `export.py`: what each file defines
- `rows.py`: one table of any result, and its columns; `rows_text.py`: its CSV and Markdown;
  `parquet.py`: its Parquet
- `csv.py`: how any CSV is written: apostrophes against formulas, escapes
- `markdown.py`: how any Markdown is escaped
- `folded.py`, `speedscope.py`, `pprof.py`: hotspots, by the numbers of `stacks.py`
- `perfetto.py`: a trace
- `in_force.py`: what is in force on a machine, as Markdown and for Prometheus;
  `here_comparison.py`: two answers of it, as Markdown
- `annotations.py` (GitHub, GitLab), `gate_markdown.py`, `gate_sarif.py`, `junit.py`: a gate
- `decision.py`: what `advise` keeps, as a profile; `waivers.py`: what it gives up

Lint's SARIF is `lint/sarif.py` of `auditrules`. Exports of profiles are in `profiles/export/`; the
workflows that `export workflow` writes are `workflows/*.yml`.
"""
