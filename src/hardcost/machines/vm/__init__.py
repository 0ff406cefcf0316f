"""The machine `vm`: guests under QEMU, from snapshots, emulated exactly or under KVM.

Whatever leaves a guest is bounded, and hostile until it is parsed. QEMU runs confined.

Making the machine:

- `make.py`: the machine that a user wants, and when emulated times are refused;
  `supplied_machine.py`: one for another host's trials
- `requirements.py`: what `doctor` reports; `kvm.py`: whether KVM works
- `cpu_models.py`: checks the processor model, and makes `max` one processor under each QEMU
- `several_processors.py`: which QEMU counts on several, and which boots can't; among how many they
  take turns is in `argv.py`

Running a guest:

- `machine.py`: the machine: identity, snapshots kept (and how many bytes), facts, trials
- `argv.py`: command lines of QEMU and the kernel: memory, processor, disks, lengths; what prevents
  snapshots
- `launch.py`: files around each guest, the length of a job's text, how long a boot may take
- `process.py`: one QEMU, why it ended, and how much of its console an error shows; `time_limit.py`:
  limits that leave out standstill
- `snapshot.py`, `cold_boot.py`: the two ways to run a trial; how often a clean snapshot is tried
- `repeat.py`: how often a trial is executed, and which are checked again
- `confinement.py`: QEMU's rights, its `-sandbox`, and files passed by descriptor
- `guest_user.py`: the user that each QEMU runs as

The kernel:

- `kernel_files.py`: the kernel that `--kernel` names; `boot_kernel.py`: makes it ready to boot
- `vmlinux.py`: unpacks an image
- `boot_log.py`: which boot words a kernel refuses; `ask_kernel.py`: boots a guest to ask it, also
  what it does about the processor's faults; `boot_parameters.py`: the parameters that a kernel
  knows

What is in a guest is `content/`; QEMU's plugin is `plugin/`. QEMU's sockets are refused in
`host/no_network.py`. Seconds a trial may take are in `measure/execute.py`.
"""
