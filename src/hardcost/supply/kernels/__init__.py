"""Kernels: their source, configuration and patches, and building them.

A kernel is named by all that it is made of. A source is never written to, and what it brings runs
in a sandbox.

- `builder.py`: configures, checks and compiles; what is in a kernel's name; how long configuring
  may take
- `builds.py`: how others have kernels built; `ordered_kernels.py`: one that another host ordered
- `make.py`: make's environment, sandbox and ccache; `build_tree.py`: the tree in which it compiles
- `build_log.py`: progress and errors in a build's log
- `source.py`: Debian's source, or the user's folder
- `patches.py`: finds, reads and checks patches, and which of them run on this host; `series/` has
  ours
- `host_programs.py`: which files of a source run on this host
- `patch_overlay.py`: what patches make of a source
- `config.py`: configurations as text, and the bases (`lean.config`)
- `option_relations.py`: which options of a profile come out on a base, and what they need
- `kconfig_reasons.py`: why an option did not come out; `kconfig_expressions.py`: its conditions
- `identity.py`: a kernel's parts as values; `module_file.py`: modules, packed or not

The compiler and its packages are in `host/compiler.py`, the sandbox in `host/sandbox.py`.
"""
