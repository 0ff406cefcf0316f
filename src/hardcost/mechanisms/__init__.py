"""A file for each kind of control: its types, TOML, and how it is applied and verified.

Every control is verified in the answers; one that did not take fails its trial. Nothing here
imports a machine. A kind also says which of its controls another one switches off
(`overruled_controls`).

- `mechanism.py`: the interface, and the phases in which kinds are applied; `registry.py`: the list
- `facts.py`: asks all kinds without a machine; `apply.py`: asks them for requests and checks
- `replies.py`: finds values in the probe's answers
- `audit_logs.py`: what auditd and syslog wrote, counted
- `export.py`, `ansible.py`: files of other programs, and tasks of a role
- `audit.py`: audit rules; lines before them; exported files; `audit_loading.py`: how a guest loads
  them; `auditctl_messages.py`: remedies for what auditctl refuses
- `sysctl.py`: names and values; what of a line is a pattern or a template of ERB or Jinja
- `boot.py`: boot parameters, and which one another overrules; `kconfig.py`: kernels, options and
  patches, as words name them
- `auditd.py`, `fapolicyd.py`, `lsm.py`, `mount.py`, `rsyslog.py`, `scanner.py`, `service.py`: kinds
  of a whole system, each with its configuration, defaults and time limits; `lsm_in_guest.py`: what
  a guest is asked of its security module
- `placebo.py`: changes without effect

How files of sysctl.d are read is in `profiles/importers/sysctl.py`; which boot words a kernel
refuses, in `machines/vm/boot_log.py`; options that Kconfig drops, in `supply/kernels/`. Tables that
mean several kinds are in `profiles/control_tables.py`.
"""
