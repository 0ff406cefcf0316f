"""A bill by search, before anything is measured."""

from hardcost.cli.billsearch import most_configurations
from hardcost.controls.control import BootParameter, Profile
from hardcost.design import culprits
from hardcost.design.group_testing import Settings


def test_the_most_configurations_are_foreseen_unless_the_user_says_fewer() -> None:
    profile = Profile("p", "t", "", tuple(BootParameter(f"word{n}") for n in range(40)))
    found = culprits.suspects(profile)
    assert most_configurations(found, Settings(threshold=0.01)) == 72
    assert most_configurations(found, Settings(threshold=0.01, most=12)) == 12
