"""Where a cost arises: instructions by function and line, and traces.

Parts add up to the metric's cost, or there is no finding.

- `hotspots.py`: joins the call trees of two configurations, of the windows that make the cost
- `subsystems.py`: the same cost by folder and file of Linux's source
- `source_lines.py`: by line of one function
- `trace.py`: pieces of a trace: the call of each, who woke it, where it waited

Call trees and traces are read in `instruments/`, from the text that `protocol/plugin/` parses. How
many functions are shown is in `show/tables/hotspots.py`.
"""
