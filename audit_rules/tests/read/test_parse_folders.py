"""Folders of rules, in the order in which augenrules takes their files."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from audit_rules.tests.read.test_parse import faults_of, write
from auditrules.read.folder import version_key
from auditrules.read.parse import read


class TestFolders:
    def test_files_are_read_in_the_order_of_their_numbers(self, tmp_path: Path) -> None:
        for name in ("10-b", "9-a", "10-a"):
            (tmp_path / f"{name}.rules").write_text(f"-w /{name}\n")
        (tmp_path / ".hidden.rules").write_text("-w /hidden\n")
        rule_set = read([tmp_path])
        assert [rule.text for rule in rule_set.rules] == ["-w /9-a", "-w /10-a", "-w /10-b"]

    def test_settings_move_as_augenrules_moves_them(self, tmp_path: Path) -> None:
        write(tmp_path, a="-w /a\n-D\n-b 1\n", b="-w /b\n-b 2\n-D\n")
        rule_set = read([tmp_path])
        assert [rule.text for rule in rule_set.rules] == ["-w /a", "-w /b"]
        assert rule_set.backlog_limit == 2
        a, b = tmp_path / "a.rules", tmp_path / "b.rules"
        assert rule_set.notes == (f"{a}:3: `-b 1` is replaced by {b}:2",)

    def test_a_comment_after_a_tab_is_one_in_a_folder_only(self, tmp_path: Path) -> None:
        write(tmp_path, a="\t# note\n-w /a\n")
        assert len(read([tmp_path]).rules) == 1
        (fault,) = faults_of(tmp_path / "a.rules")
        assert fault.place.line == 1

    def test_a_last_line_without_end_is_a_fault_where_another_file_follows(
        self, tmp_path: Path
    ) -> None:
        write(tmp_path, a="-w /a", b="", c="-w /c")
        (fault,) = faults_of(tmp_path)
        assert (Path(fault.place.file).name, fault.place.line) == ("a.rules", 1)
        assert fault.message.startswith("the last line has no newline")
        write(tmp_path, c="\n-w /c")
        assert len(read([tmp_path]).rules) == 2

    def test_places_are_called_as_asked(self, tmp_path: Path) -> None:
        write(tmp_path, a="-w /a\n")
        (rule,) = read([tmp_path], shown=lambda path: path.name).rules
        assert str(rule.place) == "a.rules:1"

    def test_a_name_with_a_space_is_a_fault(self, tmp_path: Path) -> None:
        (tmp_path / "a b.rules").write_text("-w /a\n")
        (fault,) = faults_of(tmp_path)
        assert fault.message == "its name contains a space"

    @settings(deadline=None)
    @given(st.lists(st.text("abAZ019~-._", min_size=1, max_size=9), max_size=8))
    def test_names_sort_as_ls_sorts_versions(self, stems: list[str]) -> None:
        names = {f"x{stem}.rules" for stem in stems}
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                Path(folder, name).touch()
            listed = subprocess.run(
                ["ls", "-1v", folder],
                capture_output=True,
                text=True,
                check=True,
                env={"LC_ALL": "C"},
            )
        assert sorted(names, key=version_key) == listed.stdout.split()
