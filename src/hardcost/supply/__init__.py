"""What guests are made of, fetched, built and kept: packages, kernels, images, the cache.

Nothing here starts a guest. What was fetched or built is verified when it is used.

`programs.py` finds our own programs for guests. `transfer.py` is what another host needs of the
cache.
"""
