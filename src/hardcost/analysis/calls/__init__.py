"""Where a cost arises: instructions by function and line, and traces.

Parts add up to the metric's cost, or there is no finding.

`hotspots.py` joins the call trees of two configurations; `replay.py` models several processors.
"""
