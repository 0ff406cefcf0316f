"""This host: other programs, started, confined and listened to; its compiler, git and packages.

Only `process.py` starts a program, and none outlives hardcost. Nothing here knows a guest.

`sandbox.py` confines what a kernel's source runs during a build, `no_network.py` what may reach no
network. `output.py` bounds what a program prints.
"""
