from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditrules.load import load
from auditrules.load.load import MOST_DELETIONS_BY_KEY
from auditrules.model.fault import Fault, RulesError
from auditrules.model.location import Location
from auditrules.model.rule import LONGEST_LINE, Reading, Rule, RuleKind, RuleSet
from auditrules.read.parse import join, read, read_bytes, read_line, read_lines

HERE = Location("x.rules", 1)


def reading(text: str) -> Reading:
    return read_line(text, HERE)


def fault_of(text: str) -> Fault:
    fault = reading(text).fault
    assert fault is not None
    return fault


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.rules").write_text(text)
    return folder


def faults_of(*paths: Path) -> tuple[Fault, ...]:
    with pytest.raises(RulesError) as caught:
        read(paths)
    return caught.value.faults


class TestRules:
    def test_a_rule_keeps_its_words_place_and_first_key(self) -> None:
        line = "  -a always,exit  -F arch=b64 -S open -F key=first -k second "
        assert reading(line).rule == Rule(
            "-a always,exit -F arch=b64 -S open -F key=first -k second", HERE, "first"
        )

    def test_options_may_be_glued_to_their_values_and_stand_in_any_order(self) -> None:
        assert reading("-kglue -pwa -w/etc/x").rule == Rule(
            "-kglue -pwa -w/etc/x", HERE, "glue", (), ("/etc/x",)
        )

    @pytest.mark.parametrize(
        ("line", "directories", "files"),
        [
            ("-w /etc/passwd -p wa", (), ("/etc/passwd",)),
            ("-w /etc/sudoers.d/ -p wa", ("/etc/sudoers.d",), ()),
            ("-w /etc/a// -p wa", ("/etc/a",), ()),
            ("-w / -p wa", ("/",), ()),
            ("-a always,exit -F dir=/etc/x -F perm=wa", ("/etc/x",), ()),
            ("-a always,exit -F path=/usr/bin/su -F perm=x", (), ("/usr/bin/su",)),
            ("-a always,exit -F exe=/usr/bin/su -S open", (), ("/usr/bin/su",)),
            ("-a always,exit -F exe!=/usr/bin/su -S open", (), ("/usr/bin/su",)),
            ("-w relative -p wa", (), ()),
            (r"-w /etc/with\ space -p wa", (), ("/etc/with space",)),
            (r"-w /etc/with\\backslash", (), ("/etc/with\\backslash",)),
        ],
    )
    def test_watched_paths_are_found(
        self, line: str, directories: tuple[str, ...], files: tuple[str, ...]
    ) -> None:
        rule = reading(line).rule
        assert rule is not None
        assert (rule.watched_directories, rule.watched_files) == (directories, files)

    def test_a_field_that_auditctl_would_refuse_is_left_to_auditctl(self) -> None:
        assert reading("-a always,exit -F arch=b33 -S nosuch -F aid=1").kind is RuleKind.RULE


class TestSettings:
    @pytest.mark.parametrize(
        ("line", "limit", "options"),
        [
            ("-b 8192", 8192, ()),
            ("-b 0x2000", 8192, ()),
            ("-b 020", 16, ()),
            ("-r 100", None, ("-r 100",)),
            ("--backlog_wait_time 60000", None, ("--backlog_wait_time 60000",)),
            ("--backlog_wait_time=60000", None, ("--backlog_wait_time 60000",)),
            ("--loginuid-immutable", None, ("--loginuid-immutable",)),
            ("--loginuid-imm", None, ("--loginuid-immutable",)),
            ("-b 10 -r 20 -e 1", 10, ("-r 20",)),
            ("-b 5 --loginuid-immutable", 5, ("--loginuid-immutable",)),
        ],
    )
    def test_settings_that_matter_are_taken_over(
        self, line: str, limit: int | None, options: tuple[str, ...]
    ) -> None:
        found = reading(line)
        assert (found.kind, found.backlog_limit, found.options) == (
            RuleKind.SETTING,
            limit,
            options,
        )

    @pytest.mark.parametrize(
        ("text", "meant"), [("8k", 8), ("4294967296", 0), ("0x1FFFFFFFF", 4294967295)]
    )
    def test_a_number_that_is_read_in_another_way_is_noted(self, text: str, meant: int) -> None:
        found = reading(f"-b {text}")
        assert found.backlog_limit == meant
        assert found.notes == (f"x.rules:1: auditctl reads `-b {text}` as {meant}",)

    def test_settings_are_kept_with_their_values(self) -> None:
        assert reading("-b 0x10 -e 2").settings == (("-b", "16"), ("-e", "2"))
        assert reading("--loginuid-immutable").settings == (("--loginuid-immutable", ""),)
        assert reading("-l -k x").settings == (("-l", ""),)

    @pytest.mark.parametrize("line", ["-i", "-c"])
    def test_going_on_after_errors_is_tolerance(self, line: str) -> None:
        assert reading(line).tolerant

    @pytest.mark.parametrize("line", ["-D", "-e 1", "-f 1", "--reset-lost"])
    def test_what_a_fresh_guest_is_anyway_passes_silently(self, line: str) -> None:
        assert (reading(line).kind, reading(line).notes) == (RuleKind.MOOT, ())

    @pytest.mark.parametrize("line", ["-e 2", "-f 2", "-e 0", "-f 0", "-s", "-m hello", "-t"])
    def test_what_is_left_out_leaves_a_note_with_its_place(self, line: str) -> None:
        found = reading(line)
        assert found.kind is RuleKind.LEFT_OUT
        assert found.notes[0].startswith(f"x.rules:1: `{line}` is ignored: ")

    def test_deleting_all_deletes_the_rules_before_it_in_the_same_file(self) -> None:
        lines = ["-w /a", "-a always,exit -k x -k y", "-D -k y", "-w /b -k z", "-D", "-w /c"]
        rule_set = read_lines((line, Location("f", n)) for n, line in enumerate(lines, 1))
        assert [rule.text for rule in rule_set.rules] == ["-w /c"]
        assert rule_set.notes == (
            "f:1: deleted again by f:5",
            "f:2: deleted again by f:3",
            "f:4: deleted again by f:5",
        )


class TestLoading:
    def rules(self, *lines: str) -> RuleSet:
        return read_lines((line, Location("f", n)) for n, line in enumerate(lines, 1))

    def faults(self, *lines: str) -> tuple[Fault, ...]:
        with pytest.raises(RulesError) as caught:
            self.rules(*lines)
        return caught.value.faults

    @pytest.mark.parametrize(
        ("rule", "deletion"),
        [
            ("-w /a -p wa -k k", "-W /a -p wa -k k"),
            ("-w /a -p wa", "-d always,exit -F path=/a -F perm=wa"),
            ("-A exit,always -F arch=b64 -S open,close", "-d always,exit -F arch=b64 -S 2,3"),
        ],
    )
    def test_a_deletion_deletes_what_is_the_same_for_the_kernel(
        self, rule: str, deletion: str
    ) -> None:
        found = self.rules(rule, "-w /b", deletion, "-w /c")
        assert [one.text for one in found.rules] == ["-w /b", "-w /c"]
        assert found.notes == ("f:1: deleted again by f:3",)
        assert reading(deletion).kind is RuleKind.DELETION

    def test_a_rule_that_was_deleted_may_come_again(self) -> None:
        found = self.rules("-w /a", "-W /a", "-w /a", "-W /a", "-w /a")
        assert [str(rule.place) for rule in found.rules] == ["f:5"]

    @pytest.mark.parametrize("deletion", ["-W /a -p r", "-W /a -k k", "-d never,exit -S open"])
    def test_a_deletion_of_what_is_not_there_is_a_fault(self, deletion: str) -> None:
        (fault,) = self.faults("-w /a", deletion)
        assert (fault.place.line, fault.message) == (2, "there is no such rule to delete")

    def test_a_deletion_that_auditctl_refuses_is_a_fault(self) -> None:
        (fault,) = self.faults("-w /a", "-d always,exit -F nonesuch=1")
        assert (fault.place.line, fault.place.column) == (2, 19)

    def test_deleting_by_key_takes_all_whose_keys_hold_the_text(self) -> None:
        found = self.rules("-w /a -k one-x", "-w /b -k two -k one", "-w /c -k on", "-D -k one")
        assert [rule.text for rule in found.rules] == ["-w /c -k on"]

    def test_deleting_by_key_over_and_over_is_a_fault(self) -> None:
        (fault,) = self.faults("-w /a -k a", *["-D -k b"] * (MOST_DELETIONS_BY_KEY + 1))
        assert fault.place.line == MOST_DELETIONS_BY_KEY + 2

    def test_a_setting_may_stand_in_a_rule(self) -> None:
        found = reading("-w /a -b 5 -p wa -e 2")
        assert found.rule == Rule("-w /a -p wa", HERE, "", (), ("/a",))
        assert found.rule.columns == (1, 4, 12, 15)
        assert (found.kind, found.backlog_limit, len(found.notes)) == (RuleKind.RULE, 5, 1)
        assert found.settings == (("-b", "5"), ("-e", "2"))


NO_QUOTES = "remove the quotes, which auditctl treats as part of the word"


class TestFaults:
    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("auditctl -w /etc/passwd", "'auditctl' is not an option of auditctl"),
            ("- w /etc", "'-' is not an option of auditctl"),
            ("-x 1", "auditctl has no such option: option -x not recognized"),
            ("--nonsense", "auditctl has no such option: option --nonsense not recognized"),
            ("-w", "-w has no value"),
            ('-w "/etc/my file" -p wa', "'file\"' belongs to no option"),
            (
                "-w /etc/x\t-p wa",
                "the line contains a tab, which auditctl does not treat as a space",
            ),
            ("-k x", "the line names neither a list nor a path to watch"),
            ("-d never,task -a never,task", "-d and -a are on one line"),
            ("-w /etc/x -a always,exit", "-w and -a are on one line"),
            ("-w /etc/x -i", "-i can't be part of a rule"),
            ("-w /etc/x -D", "-D can't be part of a rule"),
            ("-D -e 1", "-D takes only the option -k"),
            ("-i -c", "auditctl accepts only one of these options on a line"),
            ("-b many", "-b takes a number from 0 to 4294967295, not 'many'"),
            ("-e 3", "-e takes a number from 0 to 2, not '3'"),
            ("-e 01", "-e takes a number from 0 to 2, not '01'"),
            ("-b 99999999999999999999", "-b takes a number from 0 to 4294967295, not '9"),
            ("-i -b 5", "auditctl accepts only one of these options on a line"),
            ("-D -kx", "-D takes only the option -k"),
            ("-s -k x", "the line names neither a list nor a path to watch"),
            ("-q /a", "'/a' is not a mount and a subtree joined by a comma"),
            ("--signal KILL", "auditctl sends no signal 'KILL'"),
            ("-h", "auditctl shows its help and treats the line as an error"),
            ("-R other.rules", "a rules file can't include another"),
            ("--", "the line has no option"),
        ],
    )
    def test_a_line_that_auditctl_would_refuse_is_a_fault(self, line: str, message: str) -> None:
        assert fault_of(line).message.startswith(message)
        assert fault_of(line).place.at(None) == Location("x.rules", 1)

    @pytest.mark.parametrize(
        ("line", "column"),
        [
            ("  auditctl -w /x", 3),
            ("-w /x  -p wa -Z", 14),
            ("-w /x --nonsense", 7),
            ("-w /x  a\\ b c", 8),
            ("-w /x\t-p wa", 6),
            ("-w /x  -w /y", 8),
            ("-w /x -i", 7),
            ("-b  many", 5),
            ("-r 5 -b many", 9),
            ("--backlog_wait_time=x", 1),
            ("-e 1 -i -b 5", 9),
            ("-D  -e 1", 5),
            ("-k x", 1),
            ("--", None),
        ],
    )
    def test_a_fault_has_the_column_where_it_stands(self, line: str, column: int | None) -> None:
        assert fault_of(line).place.column == column

    def test_bytes_that_are_no_text_are_kept_as_auditctl_keeps_them(self) -> None:
        (found,) = read_bytes("-w /é".encode() + b"\xff -k \xfe", "f")
        assert found.rule is not None
        assert found.rule.key.encode(errors="surrogateescape") == b"\xfe"
        assert found.rule.watched_files == (os.fsdecode("/é".encode() + b"\xff"),)

    def test_a_nul_byte_ends_the_line_and_the_next_is_read(self) -> None:
        first, second = read_bytes(b"-w /etc/a -p wa\0 -k lost\n-w /b\n", "f")
        assert (first.text, first.cut_at) == ("-w /etc/a -p wa", 16)
        assert (second.text, second.cut_at) == ("-w /b", None)

    def test_a_carriage_return_is_part_of_the_last_word(self) -> None:
        key, size, comment = read_bytes(b"-w /a -k id\r\n-b 8192\r\n# note\r\n", "f")
        assert key.rule is not None
        assert (key.rule.key, size.backlog_limit, comment.kind) == ("id\r", 8192, RuleKind.COMMENT)

    @pytest.mark.parametrize("line", ["", "-e 2", "-f 1", "--loginuid-immutable"])
    def test_a_carriage_return_keeps_other_lines_from_loading(self, line: str) -> None:
        fault = fault_of(f"{line}\r")
        assert fault.remedy == "save the file with Unix line ends"

    def test_a_line_with_a_fault_besides_its_end_keeps_the_remedy_of_that_fault(self) -> None:
        assert fault_of("-a exit -Z\r").remedy == "see auditctl(8)"

    @pytest.mark.parametrize(
        ("line", "remedy"),
        [
            (
                "-w /etc/my dir/x y -p wa",
                r"if the path contains a space, write `\ `: /etc/my\ dir/x\ y",
            ),
            ("-w /x -k my key", r"if the key contains a space, write `\ `: my\ key"),
            ("-w /x -k my key\r", r"if the key contains a space, write `\ `: my\ key"),
            ("-a exit,always -F key=a b", r"if the key contains a space, write `\ `: key=a\ b"),
            (
                "-a exit,always -F dir=/a b -k x",
                r"if the path contains a space, write `\ `: dir=/a\ b",
            ),
            (
                "-a exit,always -S open, read -k x",
                "join calls with commas, without spaces: open,read",
            ),
            (
                "-a exit,always -S open read -k x",
                "join calls with commas, without spaces: open,read",
            ),
            ("-a exit,always -F auid >= 1000 -S 1", "remove the spaces: auid>=1000"),
            ("-a always, exit -S 1", "remove the spaces: always,exit"),
            ("-w /x -k 'my key'", f"{NO_QUOTES}, and write a space within a word as `\\ `"),
            ("-w /x -k 'key' y -Z", "see auditctl(8)"),
            ("-w /x -p wa -k id # why", "put the comment on its own line"),
            ("-w /x -p wa -k id # not -w /y\tnor -Z\r", "put the comment on its own line"),
            (
                "-a exit,always -S 1 -k -F auid=0",
                ("-k has no value of its own and so takes -F: write one after -k, or remove -k"),
            ),
            ("-a exit,always -S 1 -k", "write its value after it, or remove it"),
            (
                r"-w /x y\ z",
                r"write a space within a word as `\ `; quotes do not group words",
            ),
        ],
    )
    def test_the_remedy_is_what_makes_the_line_load(self, line: str, remedy: str) -> None:
        assert fault_of(line).remedy == remedy

    def test_a_long_comment_is_not_taken_for_one_behind_a_rule(self) -> None:
        assert fault_of(f"# {'x' * 6200} # y").remedy == "split it into two lines"

    def test_what_auditctl_heeds_before_it_finds_the_line_at_fault_counts(self) -> None:
        readings = read_bytes(b"-w /a\n-D\r\n-i\r\nnonsense\n-w /b\n", "f")
        rule_set, faults = load.combine(readings)
        assert [rule.text for rule in rule_set.rules] == ["-w /b"]
        assert [fault.place.line for fault in faults] == [2]

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"-w /etc/a -k a\x07b", "auditctl treats '\\x07' as a mark of its own"),
            (
                b"-a always,exit" + b" -S 9" * 39 + b" -k x",
                "auditctl 3.0.9 drops words from '-S' on",
            ),
            (b"\xef\xbb\xbf-w /etc/x", "the file begins with a byte order mark"),
            (
                b"#" * (LONGEST_LINE + 1),
                "the line has 6144 bytes; auditctl cuts it after 6143",
            ),
        ],
    )
    def test_bytes_that_auditctl_would_misread_are_faults(self, data: bytes, message: str) -> None:
        (found,) = read_bytes(data + b"\n", "f")
        assert found.fault is not None
        assert found.fault.message == message

    def test_a_comment_may_hold_any_bytes(self) -> None:
        (found,) = read_bytes(b" # caf\xe9\0\t\r\n", "f")
        assert found.kind is RuleKind.COMMENT

    def test_all_faults_of_all_files_are_raised_at_once(self, tmp_path: Path) -> None:
        write(tmp_path, a="-w /etc/x\nnonsense\n-z\n", b="-q\n")
        missing = tmp_path / "missing.rules"
        faults = faults_of(tmp_path / "a.rules", missing, tmp_path / "b.rules")
        assert [(Path(fault.place.file).name, fault.place.line) for fault in faults] == [
            ("a.rules", 2),
            ("a.rules", 3),
            ("missing.rules", None),
            ("b.rules", 1),
        ]
        assert str(faults[2]) == f"{missing}: there is no such file"

    @pytest.mark.parametrize("text", ["", "\n\n", "# only\n", "-b 8192\n"])
    def test_a_file_without_a_rule_is_a_fault(self, tmp_path: Path, text: str) -> None:
        write(tmp_path, a=text)
        (fault,) = faults_of(tmp_path / "a.rules")
        assert fault.message == "there is no audit rule in it"

    def test_reading_nothing_is_a_fault(self) -> None:
        assert [fault.message for fault in faults_of()] == ["no file of audit rules is given"]

    def test_a_binary_file_is_one_fault(self, tmp_path: Path) -> None:
        (tmp_path / "a.rules").write_bytes(b"\x7fELF\n\xff\xfe\n\0\0\n\0\n")
        (fault,) = faults_of(tmp_path / "a.rules")
        assert (fault.place.line, fault.message) == (
            None,
            "it contains many NUL bytes, so it is not text",
        )

    def test_a_folder_without_rules_files_is_a_fault(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("-w /etc/x\n")
        (fault,) = faults_of(tmp_path)
        assert fault.message == "no file in this folder ends in .rules"

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        (fault,) = faults_of(tmp_path / "pipe")
        assert fault.message == "it is a pipe, not a regular file"

    @pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
    def test_a_name_that_no_file_can_have_is_a_fault(self, name: str) -> None:
        (fault,) = faults_of(Path(name))
        assert fault.place.line is None

    def test_a_long_line_from_elsewhere_is_a_fault_too(self) -> None:
        message = fault_of("-w /" + "é" * LONGEST_LINE).message
        assert message.startswith("the line has 12290 bytes")


class TestSets:
    def test_a_file_of_comments_beside_others_is_noted(self, tmp_path: Path) -> None:
        write(tmp_path, a="-w /a\n", b="# nothing\n")
        rule_set = read([tmp_path / "a.rules", tmp_path / "b.rules"])
        assert rule_set.notes == (f"{tmp_path / 'b.rules'}: it contains no rule, only comments",)

    def test_the_last_backlog_limit_of_several_sets_holds(self) -> None:
        parts = [RuleSet((), 1, ("-r 1",)), RuleSet((), 2, ("-r 1",)), RuleSet((), tolerant=True)]
        assert join(parts) == RuleSet((), 2, ("-r 1",), tolerant=True)

    def test_lines_from_elsewhere_need_hold_no_rule(self) -> None:
        assert read_lines([]) == RuleSet(())

    def test_lines_from_elsewhere_raise_all_their_faults(self) -> None:
        with pytest.raises(RulesError) as caught:
            read_lines([("nonsense", HERE), ("-w /a", HERE), ("-q", HERE)])
        assert len(caught.value.faults) == 2


def some_lines() -> st.SearchStrategy[bytes]:
    words = st.sampled_from(
        b"-a -A -w -d -W -D -b -f -e -r -i -c -k -F -S -C -p always,exit never,task arch=b64 key=x "
        b"/etc/x /etc/ 1 2 8192 # \t \\ \\\\ \r \0 \xff -- --signal --backlog_wait_time".split()
    )
    line = st.one_of(st.binary(max_size=40), st.lists(words, max_size=8).map(b" ".join))
    return st.lists(line, max_size=8).map(b"\n".join)


def rules_or_faults(paths: list[Path]) -> tuple[Rule | Fault, ...]:
    try:
        return read(paths).rules
    except RulesError as error:
        return error.faults


@settings(deadline=None)
@given(some_lines())
def test_any_bytes_give_rules_or_a_rules_error(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "any.rules")
        path.write_bytes(data)
        for paths in ([path], [Path(folder)]):
            assert rules_or_faults(paths)


@settings(deadline=None)
@given(some_lines())
def test_every_line_is_accounted_for(data: bytes) -> None:
    readings = read_bytes(data, "f")
    assert [found.place.line for found in readings] == list(range(1, len(readings) + 1))
    assert len(readings) == data.count(b"\n") + bool(data and not data.endswith(b"\n"))
    for found in readings:
        assert (found.kind is RuleKind.RULE) == (found.rule is not None)
        assert (found.kind is RuleKind.FAULT) == (found.fault is not None)
        if found.kind is RuleKind.LEFT_OUT:
            assert found.notes
        if found.kind is RuleKind.SETTING:
            assert found.options or found.tolerant or found.backlog_limit is not None


def test_a_line_below_the_lock_is_refused_and_one_that_changes_nothing_is_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.rules"
    path.write_text("-w /etc/a\n-e 2\n# end\n-w /etc/b\n-D\n--loginuid-immutable\n")
    with pytest.raises(RulesError) as caught:
        read([path])
    assert [fault.place.line for fault in caught.value.faults] == [4, 5]
    assert "has locked the rules" in caught.value.faults[0].message
    # augenrules moves the lock to the end, and -D to the front.
    assert [rule.text for rule in read([tmp_path]).rules] == ["-w /etc/a", "-w /etc/b"]


def test_a_file_of_settings_alone_is_a_set_without_rules_where_that_may_be(tmp_path: Path) -> None:
    path = tmp_path / "a.rules"
    path.write_text("--loginuid-immutable\n")
    assert read([path], may_be_empty=True).rules == ()
    with pytest.raises(RulesError):
        read([path])
