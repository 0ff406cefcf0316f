"""Other hosts that carry out trials and build kernels, by Dask.

Only this folder imports Dask. No port is open without TLS and a key.

On the side of the run: `machine.py`, `connection.py`, `runners.py`, `builders.py`. On the worker's:
`worker.py`, `serve.py`, `ssh_worker.py`; `facts.py` must agree on both. `lab.py` is a scheduler as
a user names it, and imports no Dask.
"""
