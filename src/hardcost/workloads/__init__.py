"""A file for each workload: its parameters, what the guest holds, requests, metrics.

A wrong parameter is refused before anything is fetched. A metric is raw samples: no statistics
here. Where a load does not prove that all was carried out there is no number.

`kind.py` is what each file defines, `registry.py` lists the files, `names.py` finds a workload.
`server_load.py` is shared by those that drive a server, `programs.py` by those of a Debian guest.
The calls of `syscalls` are data, in `syscalls.toml`. `one_call.py` is what `hardcost trace --call`
runs, and no list shows it.
"""
