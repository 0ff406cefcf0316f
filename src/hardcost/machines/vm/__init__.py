"""The machine `vm`: guests under QEMU, from snapshots, emulated exactly or under KVM.

Whatever leaves a guest is bounded, and hostile until it is parsed. QEMU runs confined.

`make.py` makes the machine that a user wants, `machine.py` is the machine. `argv.py` is QEMU's
command line, `process.py` one QEMU, `launch.py` what every guest has around it. `snapshot.py` and
`cold_boot.py` are the two ways to run a trial, `repeat.py` says how often. `boot_kernel.py`,
`kernel_files.py` and `vmlinux.py` find a kernel; `ask_kernel.py`, `boot_log.py` and
`boot_parameters.py` check boot words with it. `requirements.py` is what `doctor` reports.
`order.py` makes the machine for another host's trials.
"""
