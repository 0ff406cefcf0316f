"""A file for each format in which findings are written for other programs.

Text of a finding stays text in every format.

`formats.py` lists the formats and `export.py` is what each defines. `rows.py` makes one table of
any result, which `csv.py`, `parquet.py` and `markdown.py` write.
"""
