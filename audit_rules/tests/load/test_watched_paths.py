from __future__ import annotations

from auditrules.load import watched_paths
from auditrules.model.location import Location
from auditrules.model.rule import Rule


def rule(*files: str, directories: tuple[str, ...] = ()) -> Rule:
    return Rule("", Location("f", 7), watched_directories=directories, watched_files=files)


def test_paths_are_sorted_and_come_once() -> None:
    rules = [rule("/etc/b"), rule("/etc/a", directories=("/etc/d",)), rule("/etc/b")]
    assert watched_paths.paths(rules) == (("/etc/d",), ("/etc/a", "/etc/b"))


def test_a_path_that_is_known_to_be_a_directory_is_one_without_a_slash() -> None:
    rules = [rule("/var/log/faillock"), rule("/etc/audit"), rule("/etc/any.d"), rule("/etc/passwd")]
    assert watched_paths.paths(rules) == (
        ("/etc/any.d", "/etc/audit", "/var/log/faillock"),
        ("/etc/passwd",),
    )


def test_a_path_above_another_is_a_directory() -> None:
    assert watched_paths.paths([rule("/srv/x"), rule("/srv/x/y")]) == (("/srv/x",), ("/srv/x/y",))


def test_a_path_watched_both_ways_is_a_directory() -> None:
    assert watched_paths.paths([rule("/srv/x", directories=("/srv/x",))]) == (("/srv/x",), ())


def test_what_the_kernel_provides_is_not_made() -> None:
    assert watched_paths.paths([rule("/proc/x", "/sys/y", "/dev/z", directories=("/",))]) == (
        (),
        (),
    )


def test_paths_that_are_there_anyway_are_added() -> None:
    assert watched_paths.paths([], ["/a"], ["/b", "/etc/ssh"]) == (("/a", "/etc/ssh"), ("/b",))


def test_a_directory_without_a_slash_is_noted_with_the_reason() -> None:
    reason = "pam_faillock keeps a file for each user in it"
    assert watched_paths.notes([rule("/etc/passwd", "/var/log/faillock")]) == (
        f"f:7: /var/log/faillock is treated as a directory: {reason}",
    )
