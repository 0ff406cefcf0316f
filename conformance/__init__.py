"""The kernel beside the semantics of `auditrules`: the same calls, judged by both.

What a call is, the kernel says in its own records. Nothing in hardcost imports this folder.

`battery.py` makes the calls of `repertoire.py` in a guest under any rule sets, by the program of
crates/conformance, which `program.py` builds and installs as any program is installed. `cases.py`
draws random sets and `agreement.py` compares; `two_kernels.py`, `watches.py` and `violations.py`
compare kernels, kinds of watched paths, and guests that violate an assumption. `witness.py` makes a
call of a prover's counterexample.
"""
