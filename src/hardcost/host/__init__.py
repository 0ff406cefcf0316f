"""This host: other programs, started, confined and listened to; its compiler, git and packages.

Only `process.py` starts a program, and none outlives hardcost. Nothing here knows a guest.

- `process.py`: starts programs; bounds their time (10 min by default) and what they print in all;
  hints on why one failed
- `no_network.py`: the filter of system calls that leaves a program only AF_UNIX sockets; QEMU,
  kernel builds and unpacking run behind it
- `sandbox.py`: confines what a kernel's source runs during a build, and unpacking; `sandbox.sh`
  says which files it sees
- `output.py`: bounds what QEMU, a build or a probe prints while it runs
- `compiler.py`: the programs that build a kernel, their versions and packages
- `git_revision.py`: copies files of a git revision, how many and how large
- `install_command.py`: the command that installs a package here, and names in other distributions

QEMU's own filter (`-sandbox`) and its user are in `machines/vm/confinement.py`. The facts of a
measured machine are in `machines/real/facts.py`.
"""
