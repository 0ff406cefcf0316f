"""A finding in words, tables, charts, pages and files.

A report reads a finding and nothing else. The answer comes first. No text from outside acts on a
terminal or in a page.

`text.py` makes names harmless, `bill_rows.py` rounds a bill so that it adds up, `store.py` shows
the runs of a store, `json.py` and `gate_document.py` write JSON.
"""
