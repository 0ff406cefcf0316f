"""Prices of single controls: which controls the list has, and what it says of each.

A price is what a control adds to a call, by itself, on one kernel. Nothing is measured here, and no
profile is known: `library/pricelist.py` builds a list, and `library/price.py` asks it.

- `listed.py`: the controls that the list is about, what each protects, and why some have no price
- `price_list.py`: a list as it was measured, and its file
- `records.py`: what settings do to the writing of audit records
- `within.py`: what settings cost beside the others of a profile
- `lists/`: the lists that come with hardcost, a file for each kernel and kind
"""
