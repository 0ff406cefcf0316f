"""The cache: folders named by their content, each with a manifest.

An entry enters by renaming, and is compared with its manifest once a run. No link is followed.

- `cache.py`: makes, finds, locks and removes entries; their kinds, how long one counts as in use
- `manifest.py`: hashes of an entry's files, and comparing them
- `folders.py`: locks, moves and removes folders; full disks
- `leftovers.py`: cleans up what killed runs left
- `built_kernels.py`: results of builds; `setup_times.py`: how long set-up took
- `location.py`: where the cache is

How much of a kind is kept is decided by who fills it, such as `machines/vm/machine.py` for
snapshots.
"""
