"""The observers of a workload: instruments, recorders, call trees and traces.

Instructions are never shown as time. A call tree adds up to what the instrument counted, or the
trial fails.

- `insn.py`, `parallel.py`, `time.py`: the instruments; `instrument.py`: what each says;
  `names.py`: by name
- `processors.py`: what became of the time of several processors; `turns.py`: how long their turns
  are
- `cpu.py`, `audit.py`, `avc.py`: the recorders; `recorders.py`: asks the probe for them;
  `watch.py`: the steps of a workload, which all report
- `counters.py`: what a processor counts of a call beside its time
- `windows.py`: the spans of a workload that were measured
- `call_trees.py`: makes a call tree of what the plugin counted in windows
- `read_trace.py`: makes traces of what it noted; `traces.py`: what a process does in one
- `kernel_source.py`: the file of Linux's source that a function is in

How often a recorder looks is the period of a watch in `protocol/ask.py`. Sums over trials are in
`analysis/recorders/`. Which functions the plugin notes for a trace is in
`machines/vm/plugin/trace_points.py`.
"""
