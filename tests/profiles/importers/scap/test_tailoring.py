from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.profiles.importers.scap import datastream
from hardcost.profiles.importers.scap.datastream import Selected
from tests.profiles.importers.scap.test_rules import OFF, PREFIX, profile, rule, stream

HEAD = '<x:Tailoring xmlns:x="http://checklists.nist.gov/xccdf/1.2" id="xccdf_a_tailoring_t">\n'
VALUE = (
    f'<x:Value id="{PREFIX}value_v"><x:value>1</x:value><x:value selector="big">2</x:value>'
    "</x:Value>"
)
SUB = f'v=<x:sub idref="{PREFIX}value_v"/>'
OURS, BASE = "xccdf_a_profile_ours", f"{PREFIX}profile_p"


def changes(*lines: str, name: str = "ours", extends: str = "p") -> str:
    body = "\n".join(lines)
    base = f'extends="{PREFIX}profile_{extends}"' if extends else ""
    return f'<x:Profile id="xccdf_a_profile_{name}" {base}>\n{body}\n</x:Profile>\n'


def select(what: str, on: str) -> str:
    return f'<x:select idref="{PREFIX}{what}" selected="{on}"/>'


def tailored(folder: Path, *profiles: str, wanted: str = "ours") -> Selected:
    source, file = folder / "ds.xml", folder / "t.xml"
    rules = (rule("a", SUB), rule("b", "true", attributes=OFF), VALUE)
    source.write_text(stream(profile("p"), *rules))
    file.write_text(HEAD + "".join(profiles) + "</x:Tailoring>\n")
    return datastream.selection_of(source, wanted, file)


def names(found: Selected) -> list[str]:
    return [one.name for one in found.rules]


def test_rules_are_selected_and_unselected(tmp_path: Path) -> None:
    found = tailored(tmp_path, changes(select("rule_a", "false"), select("rule_b", "true")))
    assert names(found) == ["b"]
    assert (found.profile, found.notes) == (OURS, ())


def test_values_are_refined_and_set(tmp_path: Path) -> None:
    refined = f'<x:refine-value idref="{PREFIX}value_v" selector="big"/>'
    exact = f'<x:set-value idref="{PREFIX}value_v">3</x:set-value>'
    for more, script in (((), "v=1"), ((refined,), "v=2"), ((refined, exact), "v=3")):
        assert tailored(tmp_path, changes(*more)).rules[0].scripts == (script,)


def test_a_severity_is_refined(tmp_path: Path) -> None:
    more = f'<x:refine-rule idref="{PREFIX}rule_a" severity="low"/>'
    assert tailored(tmp_path, changes(more)).rules[0].severity == "low"


def test_the_only_profile_that_extends_the_wanted_one_is_meant(tmp_path: Path) -> None:
    assert names(tailored(tmp_path, changes(select("rule_a", "false")), wanted="p")) == []


def test_a_profile_may_extend_another_of_its_file_or_bear_the_name_of_its_base(
    tmp_path: Path,
) -> None:
    base = changes(select("rule_a", "false"), name="base")
    own = changes(select("rule_b", "true")).replace(BASE, "xccdf_a_profile_base")
    assert names(tailored(tmp_path, base, own)) == ["b"]
    same = changes(select("rule_a", "false")).replace(OURS, BASE)
    assert names(tailored(tmp_path, same, wanted="p")) == []


def test_what_the_datastream_does_not_have_is_noted_with_its_line(tmp_path: Path) -> None:
    found = tailored(tmp_path, changes(select("rule_a", "true"), select("rule_zz", "false")))
    (note,) = found.notes
    assert note.endswith("t.xml changes what the datastream does not have: zz (line 4)")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((), "t.xml: the tailoring has no profile that is, or extends, 'ours'"),
        ((changes(name="x"), changes(name="y")), "no profile that is, or extends, 'ours'"),
        ((changes(extends=""),), "t.xml:2: the profile ours extends no profile of the datastream"),
        ((changes(extends="zz"),), "ds.xml: there is no profile"),
        ((changes("<x:select selected='true'/>"),), "t.xml:3: this select has no idref"),
        ((changes(f'<x:select idref="{PREFIX}rule_a"/>'),), "t.xml:3: this select has no selected"),
        (("<x:Profile>",), "t.xml:2: it is not XML"),
    ],
)
def test_a_mistake_is_reported_with_file_and_line(
    tmp_path: Path, parts: tuple[str, ...], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        tailored(tmp_path, *parts)
    assert any(said in f"{one.place}: {one.message}" for one in caught.value.problems)


def test_several_that_extend_the_wanted_one_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="several profiles that extend 'p'") as caught:
        tailored(tmp_path, changes(name="x"), changes(name="y"), wanted="p")
    assert caught.value.problems[0].hint == "it has x, y"


def test_another_file_a_document_type_and_a_huge_file_are_refused(tmp_path: Path) -> None:
    source, file = tmp_path / "ds.xml", tmp_path / "t.xml"
    source.write_text(stream(profile("p"), rule("a", "true")))
    with pytest.raises(InputError, match=r"no XCCDF 1\.2 tailoring in it"):
        datastream.selection_of(source, "p", source)
    file.write_text(f'<!DOCTYPE d [<!ENTITY e "x">]>{HEAD}{changes()}</x:Tailoring>')
    with pytest.raises(InputError, match="document type"):
        datastream.selection_of(source, "p", file)
    with file.open("wb") as big:
        big.truncate(1 << 25)
    with pytest.raises(InputError, match="large"):
        datastream.selection_of(source, "p", file)
