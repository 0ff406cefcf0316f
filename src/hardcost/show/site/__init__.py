"""Prices as static pages: a front with a search, a page for each control, one for each benchmark.

What the hardening of a machine costs is a page of the same looks, by itself.

A page loads nothing. Its policy allows one script by its hash, which sorts and searches tables;
without it, all is there to be read.

- `site.py`: the pages of prices, their addresses and contents
- `hardening.py`: the page of a machine
- `rendering.py`: fills in `templates/`, and escapes all names
- `tables.js`: sorts a table by a column, and hides the rows that lack a word
"""
