"""TOML files that users write: read with the location of each value, and written.

All problems of a file are reported at once. A file is read within a bound of size and depth.
"""
