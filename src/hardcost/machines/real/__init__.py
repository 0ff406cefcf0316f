"""The machines `host` and `ssh`: measured as they are, changed by the keeper, put back.

What was there is written to a journal before it is changed. Nothing is changed without `--yes`.

`host.py` and `ssh.py` are the two ways to reach a machine, `machine.py` does the rest. `changes.py`
and `boot.py` hold what a trial needs changed; `keeper_session.py` talks with the keeper there,
`probe_session.py` with the probe. `restore.py` undoes what an interrupted run left. `facts.py`,
`interference.py` and `counters.py` judge what the machine says of itself.
"""
