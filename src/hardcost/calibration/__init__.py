"""The constants of the cost model, fitted to a kernel by short measurements.

A fitted constant is a difference of measured numbers.

`experiments.py` are the measurements, `fit.py` subtracts them from each other,
`kernel_constants.py` keeps the result by kernel, QEMU and processor. `check.py` is `hardcost rules
cost --measure`.
"""
