"""A file for each workload: its parameters, what the guest holds, requests, metrics.

A wrong parameter is refused before anything is fetched. A metric is raw samples: no statistics
here. Where a load does not prove that all was carried out there is no number.

- `kind.py`: what each file defines; `registry.py`: the list; `names.py`: finds a workload
- `parameters.py`: how `key=value` is read and refused; `metric.py`: samples
- `syscalls.py`, `syscalls_more.py`: how often calls are measured; the calls, their batches and
  samples are in `syscalls.toml` and `syscalls-more.toml`
- `one_call.py`: what `hardcost trace --call` runs; no list shows it
- `apache.py`, `mariadb.py`, `postfix.py`: servers, with their loads, by `server_load.py`
- `dd.py`, `filecopy.py`, `fio.py`: disks; `programs.py`: what all of a Debian guest share
- `unixbench.py`: by our own program; `unixbench_table.py`: reads UnixBench's
- `build.py`, `command.py`: compiling; a program of the user's
- `boot.py`, `memory.py`: what a guest executes until it is up, and the memory its kernel then takes

A workload's defaults, bounds and time limits are in its file. The calls themselves are made in
`crates/measured`, UnixBench's loops in `crates/unixbench`.
"""
