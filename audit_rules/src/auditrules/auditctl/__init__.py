"""What auditctl 3.0.9 makes of a rule's words, and the words for a rule.

What auditctl and the kernel refuse is refused here, for the same reason. No file is read here.

`translate.py` makes a kernel's rule of a line's words, `write.py` a line of a kernel's rule.
"""
