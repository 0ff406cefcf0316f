from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.controls.configuration import Configuration
from hardcost.errors import InputError
from hardcost.mechanisms.kconfig import Kernel
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.role import AxisLevel
from hardcost.study.read import read

HEAD = 'title = "x"\nworkloads = ["syscalls"]\nbaseline = "{}"\n'


def configurations(folder: Path, text: str, baseline: str = "base") -> dict[str, Configuration]:
    path = folder / "my.toml"
    path.write_text(HEAD.format(baseline) + text)
    return {configuration.name: configuration for configuration in read(str(path)).configurations}


def messages(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        configurations(folder, text)
    return [problem.message for problem in caught.value.problems]


def test_a_value_fills_sysctls_boot_parameters_and_rules(tmp_path: Path) -> None:
    found = configurations(
        tmp_path,
        """
[[axis]]
name = "n"
values = [1, "two"]
boot = ["x={value}"]
sysctl = { "kernel.x" = "{value}" }
audit.rules = ["-w /etc/{value}"]
""",
        "n=1",
    )
    assert [[control.name for control in one.controls] for one in found.values()] == [
        ["auditd", "-w /etc/1", "kernel.x=1", "x=1"],
        ["auditd", "-w /etc/two", "kernel.x=two", "x=two"],
    ]


def test_a_value_fills_the_kernel_s_name(tmp_path: Path) -> None:
    text = '[[axis]]\nname = "kernel"\nvalues = ["6.1", "7.3"]\nkernel = "debian:{value}"\n'
    found = configurations(tmp_path, text, "kernel=6.1")
    assert [one.controls for one in found.values()] == [
        (Kernel("debian:6.1", shipped=True),),
        (Kernel("debian:7.3", shipped=True),),
    ]


def test_only_one_axis_is_successive(tmp_path: Path) -> None:
    axis = '[[axis]]\nname = "{}"\nswitch = true\nsuccessive = true\n'
    assert messages(tmp_path, axis.format("a") + axis.format("b")) == [
        "only one axis can be successive"
    ]
    (tmp_path / "one.toml").write_text(HEAD.format("base") + axis.format("a"))
    assert read(str(tmp_path / "one.toml")).successive == "a"


def test_named_levels_have_controls_of_their_own(tmp_path: Path) -> None:
    found = configurations(
        tmp_path,
        """
[[axis]]
name = "filter"
default = "none"
audit = {}
[axis.levels.none]
[axis.levels.quiet]
audit.rules = ["-a never,task"]
""",
    )
    assert {name: [one.name for one in found[name].controls] for name in found} == {
        "base": ["auditd"],
        "filter=quiet": ["auditd", "-a never,task"],
    }


def test_names_leave_out_levels_at_their_default_and_the_first_axis_varies_fastest(
    tmp_path: Path,
) -> None:
    found = configurations(
        tmp_path,
        """
[[axis]]
name = "a"
values = [0, 1]
default = 0
sysctl."kernel.a" = "{value}"
[[axis]]
name = "b"
switch = true
sysctl."kernel.b" = 1
""",
    )
    assert list(found) == ["base", "a=1", "b", "a=1 b"]
    assert found["a=1"].levels == (AxisLevel("a", "1", "a=1"), AxisLevel("b", "off", ""))
    assert found["a=1 b"].controls == (Sysctl("kernel.a", "1"), Sysctl("kernel.b", "1"))


def test_the_base_is_in_every_point_and_in_no_configuration_written_out(tmp_path: Path) -> None:
    found = configurations(
        tmp_path,
        """
[[configuration]]
name = "bare"
[base]
sysctl."kernel.x" = 1
[[axis]]
name = "a"
switch = true
sysctl."kernel.x" = 2
""",
    )
    assert found["bare"].controls == ()
    assert found["base"].controls == (Sysctl("kernel.x", "1"),)
    assert found["a"].controls == (Sysctl("kernel.x", "2"),)


REPEAT = 'audit.repeat = "-a always,exit -S open -F uid={n}"\n'


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        (
            "values = [1]\nswitch = true",
            "the axis a needs one of values, levels, and switch = true",
        ),
        ("values = [1, '1']", "a lists a value twice"),
        ("values = ['x y']", "a level of a is not one word"),
        ("values = [1]\ndefault = 2", "the default of a is not one of its levels"),
        (
            'values = [1]\naudit.repeat = "-w /x"',
            "the rule to repeat has no {n}, so all copies would be the same",
        ),
        (
            "values = ['x']\n" + REPEAT,
            "a rule can be repeated only if the levels of a are numbers",
        ),
        ("switch = true\n" + REPEAT, "a rule can be repeated only if the levels of a are numbers"),
        ("values = [-1]\n" + REPEAT, "a rule can be repeated from 0 to 10000 times"),
        ("values = [999999]\n" + REPEAT, "a rule can be repeated from 0 to 10000 times"),
    ],
)
def test_an_axis_that_makes_no_sense_is_reported(tmp_path: Path, axis: str, message: str) -> None:
    assert message in messages(tmp_path, f'[[axis]]\nname = "a"\n{axis}\n')


def test_two_axes_of_one_name_are_reported(tmp_path: Path) -> None:
    axis = '[[axis]]\nname = "a"\nswitch = true\n'
    assert "two axes are called 'a'" in messages(tmp_path, axis + axis)


def test_a_grid_too_large_to_be_meant_is_reported(tmp_path: Path) -> None:
    axes = "".join(f'[[axis]]\nname = "a{n}"\nswitch = true\n' for n in range(20))
    assert "the axes span more than 10000 configurations" in messages(tmp_path, axes)


def test_each_level_of_a_cumulative_axis_has_the_controls_of_those_before(tmp_path: Path) -> None:
    found = configurations(
        tmp_path,
        """
[[axis]]
name = "to"
cumulative = true
default = "none"
[axis.levels.none]
[axis.levels.one]
boot = ["a"]
[axis.levels.two]
boot = ["b"]
sysctl = { "kernel.x" = 1 }
""",
    )
    names = {
        name: [one.name for one in configuration.controls] for name, configuration in found.items()
    }
    assert names == {"base": [], "to=one": ["a"], "to=two": ["kernel.x=1", "a", "b"]}


def test_an_axis_may_set_options_of_the_kernel(tmp_path: Path) -> None:
    found = configurations(
        tmp_path,
        """
[base]
kernel = "lean"
[[axis]]
name = "bits"
values = [28, 32]
default = 28
kconfig = ["ARCH_MMAP_RND_BITS={value}"]
[[axis]]
name = "debug"
switch = true
kconfig = ["SLUB_DEBUG_ON=y"]
""",
    )
    names = [one.name for one in found["bits=32 debug"].controls]
    assert names == ["kernel lean", "ARCH_MMAP_RND_BITS=32", "SLUB_DEBUG_ON=y"]


@pytest.mark.parametrize(
    "axis",
    [
        f"values = {list(range(9000))}\naudit.repeat = '-a always,exit -F uid={{n}}'\n",
        f"values = {list(range(5000))}\ncumulative = true\nboot = ['a{{value}}']\n",
    ],
)
def test_axes_that_come_to_far_too_many_rules_are_reported(tmp_path: Path, axis: str) -> None:
    found = messages(tmp_path, f'[[axis]]\nname = "a"\n{axis}')
    assert "the axes generate more than 1000000 rules over all configurations" in found
