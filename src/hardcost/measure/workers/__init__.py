"""Other hosts that carry out trials and build kernels, by Dask.

Only this folder imports Dask. No port is open without TLS and a key.

On the side of the run:

- `machine.py`: a machine whose trials and builds go to workers
- `connection.py`: tasks of Dask submitted and cancelled, and how long it waits
- `runners.py`, `builders.py`: who is admitted, when a worker or scheduler counts as lost
- `transfer.py`: sends workers the files that they lack, and gives up
- `event_loop.py`: a loop in a thread

On the worker's:

- `serve.py`: `hardcost worker`, and how many kernels it builds by default; `ssh_worker.py`: the
  same, started over ssh
- `worker.py`: what a worker does when it is called

On both:

- `facts.py`: the versions that must agree, and how they are compared
- `lab.py`: the address of a scheduler, and its port; imports no Dask
- `certificates.py`: TLS; `dask_tls.py`: a scheduler and worker with one port
- `ssh_lab.py`: `hardcost cluster ssh`
- `dask_settings.py`: Dask's log and errors

QEMU's version, one of the facts, is read in `machines/vm/make.py`.
"""
