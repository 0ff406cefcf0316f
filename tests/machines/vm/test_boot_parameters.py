from __future__ import annotations

from pathlib import Path

from hardcost.machines.vm.boot_parameters import KernelParameters


def image(folder: Path, *strings: bytes) -> KernelParameters:
    (folder / "vmlinux").write_bytes(b"\0".join((b"", *strings, b"")))
    return KernelParameters(folder / "vmlinux", None)


def test_only_whole_strings_of_the_image_are_names(tmp_path: Path) -> None:
    known = image(tmp_path, b"audit=", b"printk.time", b"cannot find audit_rate here", b"nosmt")
    assert known.may_know("audit")
    assert known.may_know("printk.time")
    assert not known.may_know("audit_rate")
    assert not known.may_know("nosm")


def test_dash_and_underscore_are_one(tmp_path: Path) -> None:
    known = image(tmp_path, b"init-on-alloc=")
    assert known.may_know("init_on_alloc")
    assert known.may_know("init-on-alloc")


def test_what_was_meant_has_a_dot_where_the_word_has_one(tmp_path: Path) -> None:
    known = image(tmp_path, b"slab_nomerge", b"slab.nomerge")
    assert known.close_to("slab_nomerg") == "slab_nomerge"
    assert known.close_to("slab.nomerg") == "slab.nomerge"
    assert known.close_to("entirely_other") is None


def test_without_modules_nothing_is_known_of_them(tmp_path: Path) -> None:
    assert image(tmp_path, b"x").has_module("kvm") is None
