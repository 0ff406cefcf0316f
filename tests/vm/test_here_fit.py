"""What is in force below a root, measured on its own kernel: the prices of the list again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.library.here import HereRequest, here
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages import debian

pytestmark = [pytest.mark.vm, pytest.mark.slow]

RULE = "-a always,exit -F arch=b64 -S chmod -k perm"


def root_with(folder: Path, kernel: Path | None) -> Path:
    for path, text in {
        "etc/audit/rules.d/a.rules": f"{RULE}\n",
        "etc/default/grub": 'GRUB_CMDLINE_LINUX="init_on_free=1 slab_nomerge"\n',
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    if kernel is not None:
        (folder / "boot").mkdir()
        shutil.copy(kernel, folder / "boot" / kernel.name)
    return folder


def test_a_root_s_own_kernel_has_the_prices_of_its_list(
    cache_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "store.sqlite"))
    cache = Cache(cache_root)
    package = debian.package_folder(cache, debian.current_kernel(cache))
    (kernel,) = (package / "boot").glob("vmlinuz-*")
    root = root_with(tmp_path / "root", kernel)
    listed, fitted = here(HereRequest(root=root)), here(HereRequest(root=root, fit=True))
    if kernel.name.endswith(listed.priced_on):  # the archive still has the kernel of the list
        assert fitted.items == listed.items
    shares = {one.name: one.share for one in fitted.items}
    assert shares["init_on_free=1"] == pytest.approx(
        {one.name: one.share for one in listed.items}["init_on_free=1"], rel=0.02
    )
    assert fitted.priced_on == kernel.name.removeprefix("vmlinuz-")


def test_a_kernel_that_is_not_at_hand_is_said(tmp_path: Path) -> None:
    root = root_with(tmp_path / "root", None)
    with pytest.raises(InputError, match="has no kernel"):
        here(HereRequest(root=root, fit=True))
    (root / "boot").mkdir()
    (root / "boot" / "vmlinuz-6.1.0-1-amd64").symlink_to("/etc/hostname")
    with pytest.raises(InputError, match="has no kernel"):
        here(HereRequest(root=root, fit=True))
