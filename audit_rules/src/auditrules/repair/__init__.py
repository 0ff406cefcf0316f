"""Repairs of lines that lint found at fault.

A repair is written only if what loads today records the same after it.

`repairs.py` makes repairs, with `spelling.py` and `field_order.py`, and proves which are safe;
`result.py` has the values.
"""
