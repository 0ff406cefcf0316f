"""The parts of guests, fetched, built and kept: packages, kernels, emulators, images, the cache.

Nothing here starts a guest. What was fetched or built is verified when it is used.

- `programs.py`: finds our own programs for guests
- `progress.py`: how far a build or image is, and its time left
- `transfer.py`: files of the cache that another host needs, and how much a worker keeps

What is put into a guest out of these is decided in `machines/vm/content/`.
"""
