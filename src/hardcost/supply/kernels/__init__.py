"""Kernels: their source, configuration and patches, and building them.

A kernel is named by all that it is made of. A source is never written to, and what it brings runs
in a sandbox.

`builder.py` configures, checks and compiles; `builds.py` is how others have kernels built: from
which source, how confined; `order.py` builds one that another host ordered. `kconfig_reasons.py`
says why an option did not come out, `patch_overlay.py` what patches make of a source,
`host_programs.py` what of it runs on this host.
"""
