from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from hardcost.errors import TrialError
from hardcost.mechanisms import scanner
from hardcost.mechanisms.registry import MechanismKeys
from hardcost.mechanisms.scanner import ON_ACCESS_SCANNER, Scanner
from hardcost.mechanisms.sysctl import Sysctl
from tests.protocol.json_messages import as_sent, typed

CONTROL = Scanner(("/home", "/opt"))
# The file's checksum, as its makers publish it.
EICAR_MD5 = "44d88612fea8a8f36de82e1278abb02f"
LITTLE = (
    "the scanner's database has 101 signatures of our own, a real one millions: what it costs is a "
    "lower bound"
)
FOUND = """\
ClamInotif: watching '/home' (and all sub-directories)
/home/hardcost-eicar: Hardcost.Eicar.UNOFFICIAL FOUND
/opt/hardcost-eicar: Hardcost.Eicar.UNOFFICIAL FOUND
"""


def ran(name: str, status: int, stdout: str = "") -> dict[str, Any]:
    return {"event": "ran", "name": name, "status": status, "stdout": stdout, "stderr": ""}


def answers(
    found: str = FOUND, *, home: int = 1, opt: int = 1, log: str = "", prepared: str = ""
) -> list[dict[str, Any]]:
    return [
        ran("scanner-prepare", 0, prepared),
        ran("scanner-watched", 0, "7 7\n"),
        ran("scanner-refuses /home/hardcost-eicar", home),
        ran("scanner-refuses /opt/hardcost-eicar", opt),
        ran("scanner-found", 0, found),
        {"event": "stopped", "name": "clamonacc", "logs": {"/l": f"{found}{log}"}},
        {"event": "stopped", "name": "clamd", "logs": {}},
    ]


def installed(control: Scanner) -> dict[str, str]:
    return {
        request["path"]: base64.b64decode(request["base64"]).decode()
        for request in as_sent(ON_ACCESS_SCANNER.requests([control]))
        if request["do"] == "install"
    }


def test_without_the_control_nothing_is_asked_or_checked() -> None:
    others = (Sysctl("kernel.kptr_restrict", "2"),)
    assert (
        as_sent(ON_ACCESS_SCANNER.requests(others))
        == as_sent(ON_ACCESS_SCANNER.finish(others))
        == ()
    )
    assert ON_ACCESS_SCANNER.verify(others, typed([])) == ()


def test_the_test_file_is_the_one_that_every_scanner_knows() -> None:
    assert hashlib.md5(scanner.eicar(), usedforsecurity=False).hexdigest() == EICAR_MD5


def test_the_test_file_stands_nowhere_in_one_piece() -> None:
    written = [Path(file).read_bytes() for file in (scanner.__file__, __file__)]
    assert all(scanner.eicar()[20:50] not in text for text in written)


def test_a_database_holds_the_test_files_signature_and_as_many_as_asked_for() -> None:
    files = scanner.database(5)
    sums, sequences = (files[name].splitlines() for name in ("hardcost.hdb", "hardcost.ndb"))
    assert sums[0] == f"{EICAR_MD5}:68:Hardcost.Eicar"
    assert (len(sums), len(sequences)) == (3, 3)
    assert len({*sums, *sequences}) == 6
    assert scanner.database(0) == {"hardcost.hdb": f"{sums[0]}\n"}


def test_each_watched_directory_has_its_test_file_which_is_gone_before_the_workload() -> None:
    asked = as_sent(ON_ACCESS_SCANNER.requests([Scanner(paths=("/home", "/opt/x"))]))
    asked_for = next(one for one in asked if one.get("name") == "scanner-prepare")
    assert asked_for["argv"][-2:] == ["/home", "/opt/x"]
    assert asked[-1]["argv"] == ["rm", "-f", "/home/hardcost-eicar", "/opt/x/hardcost-eicar"]


def test_watched_directories_and_prevention_are_configured() -> None:
    plain = installed(CONTROL)["/etc/clamav/clamd.conf"]
    assert "OnAccessPrevention yes\n" in plain
    assert plain.endswith("OnAccessIncludePath /home\nOnAccessIncludePath /opt\n")
    assert (
        "OnAccessPrevention no\n" in installed(Scanner(prevention=False))["/etc/clamav/clamd.conf"]
    )


def test_the_one_that_asks_starts_last_and_stops_first() -> None:
    started = [
        one["name"]
        for one in as_sent(ON_ACCESS_SCANNER.requests([CONTROL]))
        if one["do"] == "start"
    ]
    stopped = [one["name"] for one in as_sent(ON_ACCESS_SCANNER.finish([CONTROL]))]
    assert started == stopped[::-1] == ["clamd", "clamonacc"]


def test_a_scanner_that_refused_the_test_file_everywhere_notes_how_little_it_knows() -> None:
    assert ON_ACCESS_SCANNER.verify([CONTROL], typed(answers())) == (LITTLE,)


def test_a_test_file_that_was_not_detected_is_a_failed_trial() -> None:
    with pytest.raises(TrialError, match="did not detect the EICAR test file in /opt") as caught:
        ON_ACCESS_SCANNER.verify([CONTROL], typed(answers(found=FOUND.replace("/opt/", "/other/"))))
    assert "ClamInotif: watching" in caught.value.console


def test_a_test_file_that_could_be_read_is_a_failed_trial() -> None:
    with pytest.raises(TrialError, match="let the EICAR test file in /home be read"):
        ON_ACCESS_SCANNER.verify([CONTROL], typed(answers(home=0)))


def test_a_directory_that_cant_be_written_to_need_only_be_watched() -> None:
    found = answers(FOUND.replace("/opt/", "/x/"), prepared="/opt can't be written to\n")
    assert len(ON_ACCESS_SCANNER.verify([CONTROL], typed(found))) == 1


def test_a_directory_that_is_not_watched_is_a_failed_trial() -> None:
    found = answers()
    found[1] = ran("scanner-watched", 0, "9 7\n")
    with pytest.raises(TrialError, match="watches 7 of 9 directories"):
        ON_ACCESS_SCANNER.verify([CONTROL], typed(found))


def test_without_prevention_a_test_file_has_to_be_detected_alone() -> None:
    control = Scanner(CONTROL.paths, prevention=False)
    assert len(ON_ACCESS_SCANNER.verify([control], typed(answers(home=0, opt=0)))) == 1
    with pytest.raises(TrialError, match="did not detect"):
        ON_ACCESS_SCANNER.verify([control], typed(answers(found="")))


def test_what_was_found_or_not_scanned_in_the_workload_is_noted() -> None:
    log = "/home/user/x: Other FOUND\n/home/user/y: Access denied. ERROR\n"
    assert ON_ACCESS_SCANNER.verify([CONTROL], typed(answers(log=log)))[1:] == (
        "the scanner found 1 of the workload's files infected",
        "the scanner could not scan 1 times, as its log says: /home/user/y: Access denied. ERROR",
    )


def test_the_name_says_what_is_unlike_the_default() -> None:
    assert Scanner().name == "on-access scanner"
    unlike = Scanner(paths=("/opt",), prevention=False, signatures=7)
    assert unlike.name == "on-access scanner paths=/opt without prevention signatures=7"


@pytest.mark.parametrize("path", ["/", "home", "/a b", "/a\nOnAccessPrevention no"])
def test_a_path_that_is_no_directory_to_be_watched_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="paths"):
        MechanismKeys.model_validate({"scanner": {"paths": [path]}})
