from __future__ import annotations

import os
from pathlib import Path

import pytest

from auditrules.read import parse
from hardcost.errors import InputError
from hardcost.mechanisms.audit import AuditDaemon
from hardcost.profiles import catalogue
from hardcost.profiles.importers.scap import datastream
from hardcost.profiles.importers.scap.profile import load_scap_profile
from hardcost.profiles.importers.scap.rules import AuditRules, OriginLine, audit_rules

PREFIX = "xccdf_org.ssgproject.content_"
CHECKED = "oval:ssg-proc_sys_kernel_osrelease_arch"


def file_of(name: str, *lines: str) -> str:
    """Return a script that writes a file."""
    return "\n".join([f"cat &lt;&lt; 'EOF' &gt; /etc/audit/rules.d/{name}.rules", *lines, "EOF"])


def rule(name: str, script: str = "", more: str = "", attributes: str = "") -> str:
    fix = f'<x:fix system="urn:xccdf:fix:script:sh">{script}</x:fix>' if script else ""
    return f'<x:Rule id="{PREFIX}rule_{name}" {attributes}>{more}{fix}</x:Rule>'


def profile(name: str, *selected: str, more: str = "", attributes: str = "") -> str:
    selects = "".join(f'<x:select idref="{PREFIX}{one}" selected="true"/>' for one in selected)
    return (
        f'<x:Profile id="{PREFIX}profile_{name}" {attributes}><x:title>The {name}</x:title>'
        f"{selects}{more}</x:Profile>"
    )


def stream(*parts: str) -> str:
    return (
        '<?xml version="1.0"?>\n<ds:data-stream-collection '
        'xmlns:ds="http://scap.nist.gov/schema/scap/source/1.2" '
        'xmlns:x="http://checklists.nist.gov/xccdf/1.2" '
        'xmlns:cpe="http://cpe.mitre.org/language/2.0">'
        f"<ds:component><x:Benchmark>{''.join(parts)}</x:Benchmark></ds:component>"
        "</ds:data-stream-collection>"
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ds.xml"


def found(path: Path, *parts: str, wanted: str = "p") -> AuditRules:
    path.write_text(stream(*parts))
    return audit_rules(path, wanted)


def texts(rules: AuditRules) -> list[str]:
    return [line.text for line in rules.lines]


def refused(path: Path, content: str, wanted: str = "p") -> str:
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        audit_rules(path, wanted)
    (problem,) = caught.value.problems
    return f"{problem.message} | {problem.hint}"


OFF = 'selected="false"'


def test_selected_rules_give_their_lines_in_augenrules_order(path: Path) -> None:
    rules = found(
        path,
        profile("p", "rule_a", "rule_b", "rule_e"),
        rule("a", file_of("20-a", "# comment", "-w /a"), attributes=OFF),
        rule("b", file_of("3-b", "-w /b", "-b 9", "-b 10"), attributes=OFF),
        rule("c", file_of("1-c", "-w /c"), attributes=OFF),
        rule("e", file_of("1-e", "-e 2"), attributes=OFF),
    )
    assert (rules.title, rules.profile) == ("The p", f"{PREFIX}profile_p")
    assert texts(rules) == ["-b 10", "-w /b", "-w /a", "-e 2"]
    assert rules.lines[1] == OriginLine("-w /b", "3-b.rules", ("b",), 5)
    assert (rules.not_found, rules.elsewhere, rules.not_taken) == ((), (), 0)


def test_what_is_selected_follows_groups_defaults_and_extended_profiles(path: Path) -> None:
    parts = (
        profile("base", "rule_b", "group_g", "rule_off"),
        profile(
            "p",
            more=f'<x:select idref="{PREFIX}rule_off" selected="false"/>',
            attributes=f'extends="{PREFIX}profile_base"',
        ),
        rule("b", file_of("b", "-w /b"), attributes=OFF),
        rule("off", file_of("off", "-w /off"), attributes=OFF),
        rule("default", file_of("d", "-w /default")),
        f'<x:Group id="{PREFIX}group_g" {OFF}>{rule("g", file_of("g", "-w /g"))}</x:Group>',
        f'<x:Group id="{PREFIX}group_h" {OFF}>{rule("h", file_of("h", "-w /h"))}</x:Group>',
    )
    assert texts(found(path, *parts)) == ["-w /b", "-w /default", "-w /g"]


def test_values_are_filled_in_as_the_profile_refines_them(path: Path) -> None:
    value = (
        f'<x:Value id="{PREFIX}value_v"><x:value>1</x:value>'
        '<x:value selector="big">2</x:value></x:Value>'
    )
    line = f'-b <x:sub idref="{PREFIX}value_v"/>00'
    parts = (value, rule("a", file_of("a", line)))
    refined = f'<x:refine-value idref="{PREFIX}value_v" selector="big"/>'
    exact = f'<x:set-value idref="{PREFIX}value_v">3</x:set-value>'
    for more, text in (("", "-b 100"), (refined, "-b 200"), (refined + exact, "-b 300")):
        assert texts(found(path, profile("p", more=more), *parts)) == [text]


@pytest.mark.parametrize(
    ("tests", "applies"),
    [
        ('<cpe:fact-ref name="cpe:/a:aarch64_arch"/>', False),
        ('<cpe:fact-ref name="cpe:/a:x86_64_arch"/>', True),
        ('<cpe:fact-ref name="cpe:/a:not_aarch64_arch"/>', True),
        (f'<cpe:check-fact-ref id-ref="{CHECKED}_aarch64:def:1"/>', False),
        (f'<cpe:check-fact-ref id-ref="{CHECKED}_x86_64:def:1"/>', True),
        (f'<cpe:check-fact-ref id-ref="{CHECKED}_not_aarch64:def:1"/>', True),
        ('<cpe:check-fact-ref id-ref="oval:ssg-bootc:def:1"/>', True),
        ('<cpe:fact-ref name="cpe:/a:machine"/>', True),
        ('<cpe:fact-ref name="cpe:/a:machine"/><cpe:fact-ref name="cpe:/a:s390x_arch"/>', False),
    ],
)
def test_rules_for_other_architectures_are_distinguished(
    path: Path,
    tests: str,
    applies: bool,  # noqa: FBT001  (a parameter)
) -> None:
    platform = (
        '<cpe:platform-specification><cpe:platform id="here">'
        f'<cpe:logical-test operator="AND" negate="false">{tests}</cpe:logical-test>'
        "</cpe:platform></cpe:platform-specification>"
    )
    named = '<x:platform idref="#here"/>'
    rules = found(path, profile("p"), platform, rule("a", file_of("a", "-w /a"), named))
    assert texts(rules) == (["-w /a"] if applies else [])
    assert [one.rule for one in rules.elsewhere] == ([] if applies else ["a"])


@pytest.mark.parametrize(
    "negated",
    [
        '<cpe:fact-ref name="cpe:/a:ppc64le_arch"/>',
        f'<cpe:check-fact-ref id-ref="{CHECKED}_ppc64le:def:1"/>',
        '<cpe:check-fact-ref id-ref="oval:ssg-bootc:def:1"/>',
        "<cpe:of-another-kind/>",
        "",
    ],
)
def test_the_negation_of_another_architecture_or_of_what_is_unknown_applies(
    path: Path, negated: str
) -> None:
    platform = (
        '<cpe:platform id="here"><cpe:logical-test operator="AND" negate="true">'
        f"{negated}</cpe:logical-test></cpe:platform>"
    )
    named = '<x:platform idref="#here"/>'
    rules = found(path, profile("p"), platform, rule("a", file_of("a", "-w /a"), named))
    assert texts(rules) == ["-w /a"]


def test_no_rule_about_audit_is_dropped_in_silence(path: Path) -> None:
    prose = "<x:description>put -w /x in /etc/audit/rules.d/x.rules</x:description>"
    rules = found(
        path,
        profile("p"),
        rule("prose", more=prose),
        rule("search", "x &lt; &lt;(find / -perm -4000) /etc/audit/rules.d/ \n-w /x"),
        rule("bad", file_of("bad", "-w /ok", "-Z 5")),
        rule("other", "sysctl -w kernel.x=1"),
    )
    assert [
        (one.rule, one.why.split(" that ")[0].split(" with ")[0]) for one in rules.not_found
    ] == [
        ("prose", "it has no shell script"),
        ("search", "its lines are for the privileged programs"),
        (
            "bad",
            "its line '-Z 5' can't be read: auditctl has no such option: option -Z not recognized",
        ),
    ]
    assert texts(rules) == ["-w /ok"]
    assert rules.not_taken == 1


def test_the_text_is_a_file_of_rules_that_says_who_asked(path: Path) -> None:
    rules = found(path, profile("p"), rule("a", file_of("a", "-w /a", "-w /b")))
    assert rules.text() == "# The p\n\n# a\n-w /a\n-w /b\n"


def test_ids_and_titles_cant_smuggle_in_lines(path: Path) -> None:
    named = profile("p").replace("The p", "The&#10;-w /t")
    rules = found(path, named, rule("a&#10;-w /evil", file_of("a", "-w /a")))
    lines = rules.text().splitlines()
    assert [line for line in lines if not line.startswith("#") and line] == ["-w /a"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "it is not XML"),
        ("<a><b></a>", "it is not XML"),
        ("<a/>", "there is no XCCDF 1.2 benchmark in it | name a SCAP datastream"),
        (stream(), "there is no profile 'p' | it has no profiles"),
        (stream(profile("q"), profile("r")), "there is no profile 'p' | there are q, r"),
        (stream(profile("p", attributes=f'extends="{PREFIX}profile_p"')), "extends itself"),
        (
            stream(profile("p"), rule("a", file_of("a", *["-D"] * 9000))),
            "has more than 4000 lines",
        ),
    ],
)
def test_what_is_no_datastream_is_refused(path: Path, content: str, said: str) -> None:
    assert said in refused(path, content)


def test_entities_are_neither_expanded_nor_loaded(path: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("-w /secret")
    laughs = "".join(
        f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "-w /laugh "}">' for n in range(12)
    )
    for entity in (laughs + '<!ENTITY e "&l11;">', f'<!ENTITY e SYSTEM "{tmp_path}/secret">'):
        body = stream(profile("p"), rule("a", file_of("a", "&e;"))).split("\n", 1)[1]
        said = refused(path, f'<?xml version="1.0"?><!DOCTYPE d [{entity}]>\n{body}')
        assert "document type" in said or "it is not XML" in said


def test_a_value_cant_blow_up_a_script(path: Path) -> None:
    value = f'<x:Value id="{PREFIX}value_v"><x:value>{"x" * 100_000}</x:value></x:Value>'
    script = f'<x:sub idref="{PREFIX}value_v"/>' * 100
    assert "far too long" in refused(path, stream(profile("p"), value, rule("a", script)))


def test_a_missing_file_is_said(path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        datastream.profiles(path)


def test_profiles_are_listed_with_their_titles(path: Path) -> None:
    path.write_text(stream(profile("p"), profile("q")))
    assert datastream.profiles(path) == (
        (f"{PREFIX}profile_p", "The p"),
        (f"{PREFIX}profile_q", "The q"),
    )


def test_a_profile_of_ours_takes_its_rules_out_of_a_datastream(path: Path) -> None:
    prose = "<x:description>put -w /x in /etc/audit/rules.d/x.rules</x:description>"
    parts = (rule("a", file_of("a", "-w /a", "-b 99")), rule("prose", more=prose))
    path.write_text(stream(profile("p"), *parts))
    own = path.with_name("own.toml")
    own.write_text('title = "own"\n[audit]\nfiles = ["ds.xml"]\nscap-profile = "p"\n')
    loaded = catalogue.load(str(own))
    assert [one.name for one in loaded.controls] == ["auditd", "-w /a"]
    assert loaded.controls[0] == AuditDaemon(backlog_limit=99)
    assert "prose: it has no shell script with its lines" in loaded.notes


def test_a_profile_that_the_datastream_has_not_is_said_at_its_place(path: Path) -> None:
    path.write_text(stream(profile("p")))
    own = path.with_name("own.toml")
    own.write_text('title = "own"\n[audit]\nfiles = ["ds.xml"]\nscap-profile = "q"\n')
    with pytest.raises(InputError, match="there is no profile 'q'"):
        catalogue.load(str(own))


def test_the_lines_can_be_read_as_rules(path: Path) -> None:
    rules = found(path, profile("p"), rule("a", file_of("a", "-D", "-w /a", "-f 2", "-w /b")))
    own = path.with_name("own.rules")
    own.write_text(rules.text())
    assert [one.text for one in parse.read([own]).rules] == ["-w /a", "-w /b"]


def test_a_profile_of_a_datastream_can_be_loaded_by_itself(path: Path) -> None:
    path.write_text(stream(profile("p"), rule("a", file_of("a", "-w /a", "-b 99"))))
    loaded = load_scap_profile(path, "p")
    assert [one.name for one in loaded.controls] == ["auditd", "-w /a"]
    assert loaded.name == f"{path} p"


def test_a_profile_without_a_control_of_ours_is_no_profile_of_ours(path: Path) -> None:
    path.write_text(stream(profile("p"), rule("file_owner_a", "chown root /a")))
    with pytest.raises(InputError, match="a control for none of the 1 rule of p"):
        load_scap_profile(path, "p")


def test_a_rule_knows_its_own_names_though_another_begins_on_the_same_line(path: Path) -> None:
    lines = {"a": "-w /a", "b": "-w /b"}
    both = file_of("x", *lines.values())
    path.write_text(stream(profile("p"), rule("both", both, attributes='severity="high"')))
    loaded = load_scap_profile(path, "p")
    found = {one.name: (one.ids, one.severity) for one in loaded.controls[1:]}
    assert found == dict.fromkeys(lines.values(), (("both",), "high"))


def test_a_datastream_is_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place, why in ((tmp_path / "pipe", "it is a pipe"), (tmp_path, "it is a folder")):
        with pytest.raises(InputError, match=why):
            audit_rules(place, "stig")
