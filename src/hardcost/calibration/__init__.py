"""The constants of the cost model, fitted to a kernel by short measurements.

A fitted constant is a difference of measured numbers.

- `experiments.py`: the rules that are measured, and how often each operation
- `rule_set_costs.py`: measures operations under rule sets, all in one guest
- `fit.py`: subtracts measurements from each other, in the order that constants need
- `kernel_constants.py`: keeps constants by kernel, QEMU and processor; their time limit
- `baseline.py`: what operations take without rules
- `check.py`: predictions beside measurements, `hardcost rules cost --measure`

The cost model, and the constants that come with it, are in `auditrules` (`cost/`).
"""
