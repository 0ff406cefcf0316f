"""Prices as static pages: a front with a search, a page for each control, one for each benchmark.

A page loads nothing. Its policy allows one script by its hash, which sorts and searches tables;
without it, all is there to be read.

- `site.py`: the pages, their addresses and contents; `templates/`
- `tables.js`: sorts a table by a column, and hides the rows that lack a word
"""
