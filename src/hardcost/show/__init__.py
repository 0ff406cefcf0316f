"""A finding in words, tables, charts, pages and files.

A report reads a finding and nothing else. The answer comes first. No text from outside acts on a
terminal or in a page.

- `text.py`: names made harmless; how numbers are rounded and written
- `bill_rows.py`: a bill's figures rounded so that they add up, in the order of its rows
- `prices.py`: the price of a control in words; `here.py`: what is in force on a machine;
  `here_accepted.py`: what of it is accepted; `here_amounts.py`: the amounts of both;
  `here_comparison.py`: two such answers
- `store.py`: lists, checks and removals of runs in words
- `json.py`: a finding as JSON; `gate_document.py`: a gate's keys

What a number is, and whether it counts, is decided in `analysis/`. How a terminal prints is in
`cli/console/`.
"""
