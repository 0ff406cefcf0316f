"""The tables of a study beyond its cells: axes, steps between levels, published figures.

A published figure is a reference point, never an expected value.

- `published.py`: reads `figures/*.toml`, which a study names by its key `published`
- `published_pairs.py`: each published figure beside ours, and which of our figures that is
- `axes.py`: the axis of numbers that a chart is drawn along
- `steps.py`: changes from one level of an axis to the next

How axes span configurations is in `study/configurations.py`.
"""
