"""Charts as SVG. Bars begin at 0 on a linear scale; a logarithmic scale has dots.

No chart holds a script or loads anything.

`chart.py` makes a finding's charts of the others, `drawing.py` is what they share, `svg.py` admits
known elements only.
"""
