from __future__ import annotations

import pytest

from hardcost.profiles.importers.scap.fix_scripts import (
    MOST_LINES,
    RulesFolder,
    TooManyError,
    follow,
    mentions_rules,
)

MACRO = """\
{indent}unset syscall_a
{indent}unset syscall
{indent}for audit_file in "${{files_to_inspect[@]}}"
{indent}do
{indent}    if [ "$skip" -eq 0 ]; then
{indent}        break
{indent}    else
{indent}        KEY_OF_OTHERS="x"
{indent}    fi
{indent}done
{indent}default_file="/etc/audit/rules.d/$KEY.rules"
{indent}default_file="/etc/audit/audit.rules"
"""
LOOP = """\
[ "$(getconf LONG_BIT)" = "32" ] && RULE_ARCHS=("b32") || RULE_ARCHS=("b32" "b64")
for ARCH in "${{RULE_ARCHS[@]}}"
do
	ACTION_ARCH_FILTERS="-a always,exit -F arch=$ARCH"
	OTHER_FILTERS="{other}"
	AUID_FILTERS="-F auid>=1000 -F auid!=unset"
	SYSCALL="{calls}"
	KEY="{key}"
	SYSCALL_GROUPING="{together}"
{macro}done
"""
WATCH = """\
files_to_inspect+=('/etc/audit/audit.rules')
        echo "-w {path} -p {perm} -k {key}" >> "$audit_rules_file"
key_rule_file="/etc/audit/rules.d/{key}.rules"
        echo "-w {path} -p {perm} -k {key}" >> "$audit_rules_file"
"""


def calls(calls: str, together: str = "", key: str = "k", other: str = "") -> str:
    macro = MACRO.format(indent="\t")
    return LOOP.format(calls=calls, together=together, key=key, other=other, macro=macro)


def watch(path: str, perm: str = "wa", key: str = "identity") -> str:
    return WATCH.format(path=path, perm=perm, key=key)


def written(*scripts: str) -> dict[str, list[str]]:
    folder = RulesFolder()
    for number, script in enumerate(scripts):
        assert follow(script, folder, f"rule{number}") is None
    return {name: [line.text for line in lines] for name, lines in folder.files.items()}


def problem(script: str) -> str:
    said = follow(script, RulesFolder(), "rule")
    assert said is not None
    return said


def test_a_loop_over_architectures_writes_a_rule_for_each() -> None:
    assert written(calls("chmod", key="perm_mod")) == {
        "perm_mod.rules": [
            "-a always,exit -F arch=b32 -S chmod -F auid>=1000 -F auid!=unset -F key=perm_mod",
            "-a always,exit -F arch=b64 -S chmod -F auid>=1000 -F auid!=unset -F key=perm_mod",
        ]
    }


def test_calls_that_may_share_a_line_join_the_rule_that_is_there() -> None:
    both = "chmod fchmod"
    lines = written(calls("chmod", both), calls("fchmod", both))["k.rules"]
    assert len(lines) == 2
    assert all("-S chmod -S fchmod -F" in line for line in lines)


def test_a_line_remembers_all_that_asked_for_it() -> None:
    folder = RulesFolder()
    for name in ("first", "second", "second"):
        follow(calls(name, "first second"), folder, name)
    assert [line.asked_by for line in folder.files["k.rules"]] == [("first", "second")] * 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (calls("chmod"), calls("fchmod")),  # not grouped
        (calls("a", "a b"), calls("b", "a b", other="-F exit=-EPERM")),  # other fields
    ],
)
def test_other_calls_get_lines_of_their_own(first: str, second: str) -> None:
    assert len(written(first, second)["k.rules"]) == 4


IN_A_FUNCTION = (  # as the datastreams of SCAP Security Guide 0.1.76 do for privileged programs
    'ACTION_ARCH_FILTERS="-a always,exit"\nlocal PRIV_CMD="$1"\n'
    'local OTHER_FILTERS="-F path=$PRIV_CMD -F perm=x"\nKEY="privileged"\n'
    + MACRO.format(indent="")
)


def test_a_rule_without_calls_is_written_once() -> None:
    script = (
        'ACTION_ARCH_FILTERS="-a always,exit"\nOTHER_FILTERS="-F path=/bin/su -F perm=x"\n'
        'AUID_FILTERS=""\nSYSCALL=""\nKEY="privileged"\nSYSCALL_GROUPING=""\n'
        + MACRO.format(indent="")
    )
    line = "-a always,exit -F path=/bin/su -F perm=x -F key=privileged"
    assert written(script, script) == {"privileged.rules": [line]}


def test_branches_on_the_architecture_are_distinguished() -> None:
    branches = (
        'if [ ${ARCH} = "b32" ]\nthen\nSYSCALL="adjtimex stime"\n'
        'elif [ ${ARCH} = "b64" ]\nthen\nSYSCALL="adjtimex"\nfi\n'
    )
    script = calls("read").replace('\tSYSCALL="read"\n', branches)
    lines = written(script)["k.rules"]
    assert ["stime" in line for line in lines] == [True, False]
    assert all("-S adjtimex" in line for line in lines)


def test_a_watch_is_written_once_with_the_permissions_of_all() -> None:
    scripts = (watch("/etc/passwd"), watch("/etc/passwd", "xw", "other"), watch("/etc/group"))
    assert written(*scripts) == {
        "identity.rules": ["-w /etc/passwd -p wax -k identity", "-w /etc/group -p wa -k identity"]
    }


def test_a_watch_on_a_value_of_the_benchmark_is_on_what_that_is() -> None:
    script = "var_dir='/var/log/faillock'\n" + watch("${var_dir}")
    assert mentions_rules(watch("${var_dir}"))
    assert written(script) == {"identity.rules": ["-w /var/log/faillock -p wa -k identity"]}
    assert "not understood" in problem("var_dir='/a b -k x'\n" + watch("${var_dir}"))


def test_a_watch_on_a_longer_path_is_another_watch() -> None:
    lines = written(watch("/etc/sudoers.d/"), watch("/etc/sudoers"))["identity.rules"]
    assert len(lines) == 2


def test_a_whole_file_replaces_what_was_there() -> None:
    script = "cat << 'EOF' > /etc/audit/rules.d/30-x.rules\n# why\n-w /{}\n\nEOF\nrm -f /etc/x\n"
    assert written(script.format("a"), script.format("b")) == {"30-x.rules": ["# why", "-w /b"]}


def test_control_lines_are_appended_and_removed() -> None:
    script = (
        "find /etc/audit /etc/audit/rules.d -exec sed -i '/-e[[:space:]]\\+.*/d' {} ';'\n"
        'for AUDIT_FILE in "/etc/audit/audit.rules" "/etc/audit/rules.d/immutable.rules"\n'
        "do\necho '-e 2' >> $AUDIT_FILE\ndone\n"
    )
    assert written(script.replace("-e 2", "-e 1"), script) == {"immutable.rules": ["-e 2"]}


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("augenrules --add '-w /etc/x -p wa'", "an unknown way"),
        ("x < <(find / -xdev -perm -4000)", "privileged programs"),
        ("function add()\n{\n" + IN_A_FUNCTION + "}\n", "unknown variable PRIV_CMD"),
        (calls("chmod").replace("-F arch=$ARCH", "-F arch=$OTHER"), "unknown variable OTHER"),
        (calls("chmod").replace("-a always,exit", ""), "a rule that is not understood"),
        (watch("/etc/x", "wa; rm"), "a watch that is not understood"),
        ('for ARCH in "${A[@]}"\n' * 40 + "done\n" * 40, "within another"),
    ],
)
def test_what_is_not_understood_is_said(script: str, said: str) -> None:
    assert said in problem(script)


def test_a_script_that_is_not_understood_changes_nothing() -> None:
    folder = RulesFolder()
    follow(calls("chmod"), folder, "first")
    before = {name: list(lines) for name, lines in folder.files.items()}
    search = "x < <(find / -xdev -perm /6000 -type f)\n"
    assert follow(calls("chmod") + IN_A_FUNCTION + search, folder, "second") is not None
    assert folder.files == before


def test_more_lines_than_any_set_has_are_refused() -> None:
    script = "cat << EOF > /etc/audit/rules.d/x.rules\n" + "-D\n" * (MOST_LINES + 1)
    with pytest.raises(TooManyError):
        follow(script, RulesFolder(), "rule")


@pytest.mark.parametrize(
    ("text", "does"),
    [
        (calls("chmod"), True),
        (watch("/etc/x"), True),
        ("cat > /etc/audit/rules.d/x\n--loginuid-immutable\n", True),
        ("cat > /etc/audit/rules.d/x\n-D\n-b 8192\n", True),
        ("find -H /etc/audit/rules.d/ -maxdepth 1 -exec chmod u-xs {} \\;", False),
        ("echo -w /etc/x", False),
    ],
)
def test_scripts_that_write_rules_are_reported_from_others(text: str, does: bool) -> None:  # noqa: FBT001  (a parameter)
    assert mentions_rules(text) is does
