"""What a build refuses before anything is run. Kernels are built in tests/vm/test_kernels.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hardcost.errors import InputError
from hardcost.machines.cache import Cache
from hardcost.machines.kernels import config, source
from hardcost.machines.kernels.build import Kernels

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["a b", "a;b", "$(id)", "it's", "a:b", "`id`", "a#b"])
def test_a_path_that_make_or_a_shell_would_act_on_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="can't be built in the cache") as caught:
        _ = Kernels(Cache(tmp_path / name)).source
    assert "HARDCOST_CACHE" in (caught.value.problems[0].hint or "")
    assert not (tmp_path / name).exists()
    with pytest.raises(InputError, match="can't be built in the source"):
        source.from_folder(tmp_path / name)


@pytest.mark.parametrize(
    "value", ["/dev/null; touch x", "a|b", "a&b", "a>b", "$(id)", "`id`", "a\nb", "a'b", "a#b", "*"]
)
def test_a_string_that_a_shell_would_act_on_is_refused(value: str) -> None:
    with pytest.raises(InputError, match="INITRAMFS_SOURCE can't be set to"):
        config.check_fit({"A": "y", "INITRAMFS_SOURCE": value})


def test_strings_of_ordinary_configurations_are_taken() -> None:
    config.check_fit(
        {
            "CC_VERSION_TEXT": "gcc (Debian 12.2.0-14+deb12u1) 12.2.0; it's Kconfig's own",
            "DEFAULT_HOSTNAME": "(none)",
            "LSM": "landlock,lockdown,yama",
            "SYSTEM_TRUSTED_KEYS": "debian/certs/debian-uefi-certs.pem",
            "EXTRA_FIRMWARE": "",
            "CMDLINE": "console=ttyS0 quiet",
        }
    )
