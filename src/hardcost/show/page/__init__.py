"""A finding as one HTML file that loads nothing.

Each script is ours, and the page's policy allows it by its hash. All else is escaped.

- `page.py`: the sections and their order, which tables fold, `templates/`; the policy
- `what_if.py`: data for ticking controls on and off; `choice.js`: what a choice costs, its address
  and its file; `whatif.js`: wires it
- `flame_graph.py`: lays flame graphs out; `flames.js`: zooms and searches
- `trace_lanes.py`: a trace as lanes
- `script.py`: a script with its hash

Words are from `show/sentences/`, tables from `show/tables/`, drawings from `show/charts/`.
"""
