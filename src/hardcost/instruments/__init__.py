"""What observes a workload: instruments, recorders, call trees and traces.

Instructions are never shown as time. A call tree adds up to what the instrument counted, or the
trial fails.

`insn.py` and `time.py` are the instruments; `cpu.py`, `audit.py` and `avc.py` the recorders.
`windows.py` are the periods that a workload had measured; `call_trees.py` and `read_trace.py` make
values of what the plugin wrote in them.
"""
