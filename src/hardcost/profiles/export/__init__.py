"""Profiles for other programs: an Ansible role, bpftrace, an XCCDF tailoring.

An export lists what it lacks.
"""
