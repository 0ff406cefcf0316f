"""What a study shows beyond its cells: axes, steps between levels, published figures.

A published figure is a reference point, never an expected value.

`published.py` reads `figures/*.toml`, which a study names by its key `published`.
"""
