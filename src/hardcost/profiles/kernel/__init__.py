"""The catalogue of kernel hardening: options, boot parameters, sysctls, and their defaults.

Nothing here configures or builds a kernel. The data are in `catalogue/kernel/`.

- `options.py`: reads the catalogue, and explains its keys
- `defaults.py`: which settings are a default anyway, and which do nothing
- `score.py`: how many recommended options a configuration has
- `substitutes.py`: boot parameters and sysctls in place of options, `--prefer-boot`

Options are set, and looked for after the build, in `supply/kernels/builder.py`.
"""
