"""What every control says of itself, whatever its kind.

Nothing here knows a kind of control.

`control.py` is the base of all kinds, and the profile. `reach.py` says which measured calls reach a
control, `blind_spots.py` which costs a count does not show.
"""
