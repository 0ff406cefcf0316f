"""The machines `host` and `ssh`: measured as they are, changed by the keeper, put back.

What was there is written to a journal before it is changed. Nothing is changed without `--yes`.

- `host.py`, `ssh.py`: the two ways to reach a machine; ssh's options and time limit
- `machine.py`: all else: capabilities, identity, a trial carried out, whether its clock is right
- `probe_session.py`: talks with the probe there; `probe_command.py`: starts it, and lists the
  programs that are copied
- `batch_size.py`: how many operations a timed window needs
- `changes.py`: changes held for a trial; `boot.py`: a boot with further words
- `selinux.py`: when SELinux's mode is switched without a reboot
- `keeper_session.py`: talks with the keeper: its silence, and messages on what is left;
  `keeper_messages.py`: what it says, and which requests it carries out
- `journal.py`: the journal's form and its checks; `local_journal.py`: the copy that is kept here
- `restore.py`: undoes what an interrupted run left, and how long a reboot may take
- `facts.py`: what a machine says of itself; `interference.py`: the load beside a job
- `counters.py`: which hardware counters work
- `requirements.py`: what `doctor` reports, and what makes times noisy

The keeper itself is `crates/keeper`: it decides what may be changed, and undoes it. Which trials
count as disturbed is decided in `analysis/estimates/disturbance.py`.
"""
