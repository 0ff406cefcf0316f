from __future__ import annotations

import re
import textwrap
from pathlib import Path

from hardcost.model.workload import Workload
from hardcost.study import model
from hardcost.study.read import read


def test_the_example_in_the_documentation_is_a_study(tmp_path: Path) -> None:
    example = re.search(r"    title = .*?(?=\n\nA point)", model.__doc__ or "", re.DOTALL)
    assert example is not None
    path = tmp_path / "example.toml"
    path.write_text(textwrap.dedent(example[0]))
    study = read(str(path))
    assert study.baseline in {configuration.name for configuration in study.configurations}
    assert len(study.configurations) == 1 + 3 * 2 * 2


def test_a_workload_is_called_by_its_name_and_parameters() -> None:
    assert str(Workload("filecopy", (("concurrency", "4"),))) == "filecopy concurrency=4"
