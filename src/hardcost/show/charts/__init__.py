"""Charts as SVG. Bars begin at 0 on a linear scale; a logarithmic scale has dots.

No chart holds a script or loads anything.

- `chart.py`: a finding's charts, and lines along an axis of numbers
- `bars.py`: values by configuration; when dots replace bars
- `frontier.py`: the frontier of `advise`; `spread.py`: single trials
- `recorders.py`: shares of processes, and series over time
- `drawing.py`: colours, panels and legends, which all share
- `svg.py`: the elements that are admitted
"""
