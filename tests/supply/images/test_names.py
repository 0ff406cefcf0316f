"""Roots that hardcost makes are known by name."""

from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.supply.cache.cache import Cache
from hardcost.supply.images import names


def test_an_unknown_image_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no image 'arch'") as caught:
        names.make("arch", Cache(tmp_path))
    assert caught.value.problems[0].hint == "there are: debian"
