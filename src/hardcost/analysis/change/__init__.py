"""What a change costs, by line: two finished runs, two measured states, or a prediction.

A prediction never stands beside a measurement without saying so.

`growth.py` is the value that the others make; `comparison.py` joins two runs cell by cell.
"""
