"""The catalogue of kernel hardening: options, boot parameters, sysctls, and their defaults.

Nothing here configures or builds a kernel.
"""
