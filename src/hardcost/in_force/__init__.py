"""What hardening is in force on a machine, or would be once a root had booted. Nothing is changed.

Each reader is a function of `MachineFiles`, and returns what it found and what it could not see.

- `files.py`: reads files below a root, whose symbolic links do not lead outside
- `over_ssh.py`: the same of another machine, fetched by `look.sh`, which its shell runs
- `calls.py`: how often system calls are made, counted by `count_calls.sh`
- `found.py`: what a reader returns
- `audit.py`, `sysctls.py`, `boot.py`, `modules.py`, `kernel_options.py`, `mitigations.py`,
  `daemons.py`, `mounts.py`, `bpf.py`: a reader each
- `read.py`: all of them
"""
