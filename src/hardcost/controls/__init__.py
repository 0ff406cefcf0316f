"""The facts that a control of any kind states of itself.

Nothing here knows a kind of control.

- `configuration.py`: the controls that a trial measures, and how its guest is set up
- `control.py`: the base of all kinds; the profile; which control wins where two set the same
- `reach.py`: which measured calls reach a control (`reach.toml`)
- `blind_spots.py`: whose cost a count does not show, and why (`blind_spots.toml`)

The kinds are in `mechanisms/`.
"""
