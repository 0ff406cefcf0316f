"""The kernel beside the semantics of `auditrules`: the same calls, judged by both.

What a call is, the kernel says in its own records. Nothing in hardcost imports this folder.

- `battery.py`: makes the calls in a guest under any rule sets; its time limit
- `calls.py`: files, steps, workers and calls as data
- `repertoire.py`: which calls are made, by whom, by which entry
- `files_and_workers.py`: the files, workers' ids and settings that they are made with
- `program.py`: builds the program of crates/conformance, installs it, reads its answers
- `kernel_records.py`: a call's records, read as the event that the filter saw
- `random_rules.py`: draws sets: how many rules, which lists, which odd and faulty lines
- `random_exit_rule.py`: draws a rule of the list exit; `exclusions.py`: of the list exclude
- `cases.py`: how many calls a set and sets a boot; what a battery must exercise
- `agreement.py`: compares the kernel with the semantics: what is a disagreement
- `two_kernels.py`: compares two kernels; `watches.py`: sets with watches of each kind
- `violations.py`: guests that violate an assumption of a proof
- `witness.py`: makes a call of a prover's counterexample

How the guest's program takes on ids and makes a call is in crates/conformance. The commands that
run all this are in `bench/rules/`.
"""
