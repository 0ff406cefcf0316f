"""The machine `vm`, as a user wants it."""

from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.machines.vm.make import roots
from hardcost.measure.monitor import Silent
from hardcost.supply.cache.cache import Cache


def test_a_root_of_the_users_is_looked_at_when_it_is_needed(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    with pytest.raises(InputError, match="nowhere can't be read: No such file"):
        roots(tmp_path / "nowhere", None, Silent()).root(cache)
    with pytest.raises(InputError, match="holds no Linux system"):
        roots(None, tmp_path, Silent()).root(cache)
    assert roots(None, None, Silent()).kernel(cache) is None
