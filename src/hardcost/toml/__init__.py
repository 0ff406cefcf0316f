"""TOML files that users write: read with the location of each value, and written.

All problems of a file are reported at once. A file is read within a bound of size and depth.

`read.py` validates within bounds, and words what is wrong; `locations.py` finds lines; `write.py`
writes. Which keys there are is in `study/model.py` and `profiles/control_tables.py`.
"""
