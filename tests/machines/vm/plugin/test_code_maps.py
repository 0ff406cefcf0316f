"""Which code lies where in a whole system, and how it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from hardcost.errors import TrialError
from hardcost.machines.machine import Execution
from hardcost.machines.vm.plugin.code_maps import count_by_maps, programs
from hardcost.protocol.ask import run, stop
from hardcost.protocol.requests import DropCaches, Request, RunProgram
from tests.protocol.json_messages import typed

MAPS = """\
name fapolicyd
555555558000-555555560000 r-xp 00004000 103:00 77 /usr/sbin/fapolicyd
7ffff7c00000-7ffff7c10000 r-xp 00003000 103:00 81 /usr/lib/lib magic.so.1 (deleted)
7ffff7fc9000-7ffff7fcb000 r-xp 00000000 00:00 0 [vdso]
name kauditd
name odd name
555555558000-555555559000 r-xp 00004000 103:00 78 /bin/odd
no line of maps
zz-yy r-xp 0 0:0 1 /bin/zz
name fapolicyd
555555558000-555555560000 r-xp 00004000 103:00 77 /usr/sbin/fapolicyd
"""


Asked = list[tuple[list["Request"], str | None]]


def _answered(*ticks: int, text: str | None = MAPS) -> Execution:
    ran = {"status": 0, "signal": None, "user": 0, "system": 0, "stdout": "", "stdout_bytes": 0}
    ran |= {"stderr": "", "stderr_bytes": 0, "begin": 0, "end": 0, "audit": None}
    content = {"event": "content", "name": "hardcost-code-maps", "path": "/run/x", "bytes": 1}
    answers = [
        {"event": "ran", "name": f"n{at}", "ticks": it, **ran} for at, it in enumerate(ticks)
    ]
    return Execution(tuple(typed([*answers, {**content, "text": text}])), "", 1.0, 2.0)


def test_each_process_has_the_code_of_its_files() -> None:
    assert programs(_answered().answers).splitlines() == [
        "program fapolicyd",
        "function 555555558000 8000 [fapolicyd]",
        "function 7ffff7c00000 10000 [lib magic.so.1]",
        "program kauditd",
        "program odd name",
        "function 555555558000 1000 [odd]",
    ]


def test_what_a_file_exports_has_its_name_and_what_is_between_the_files() -> None:
    exported = [
        "name magic",
        "7ffff7c00000-7ffff7c10000 r-xp 00003000 103:00 81 /usr/lib/libmagic.so.1",
        "file /usr/lib/libother.so",
        "symbol 3000 10 elsewhere",
        "file /usr/lib/libmagic.so.1",
        "symbol 3100 40 __magic_alias",
        "symbol 3100 40 magic_buffer",
        "symbol 3120 10 within",
        "symbol 3140 20 magic_file",
        "symbol 12f00 9000 reaches_beyond",
        "symbol 20 10 before",
        "symbol zz 10 none",
        "symbol 3400",
    ]
    assert programs(_answered(text="\n".join(exported)).answers).splitlines() == [
        "program magic",
        "function 7ffff7c00000 100 [libmagic.so.1]",
        "function 7ffff7c00100 40 magic_buffer",
        "function 7ffff7c00140 20 magic_file",
        "function 7ffff7c00160 fda0 [libmagic.so.1]",
        "function 7ffff7c0ff00 100 reaches_beyond",
    ]


def test_without_maps_nothing_has_a_name() -> None:
    assert programs(_answered(text=None).answers) == ""


def _asked(first: Execution, second: Execution, job: Sequence[Request]) -> tuple[Execution, Asked]:
    asked: Asked = []

    async def once(requests: Sequence[Request], code: str | None) -> Execution:
        asked.append((list(requests), code))
        return first if code is None else second

    return asyncio.run(count_by_maps(once, job)), asked


def test_maps_are_asked_for_once_all_is_measured_and_before_services_stop() -> None:
    job: list[Request] = [DropCaches(), run("load", ["true"], clock="tsc"), stop("server")]
    execution, asked = _asked(_answered(7), _answered(7), job)
    (plain, no_code), (watched, code) = asked
    assert plain == watched
    assert [type(one).__name__ for one in plain] == [
        "DropCaches",
        "RunProgram",
        "RunProgram",
        "Read",
        "Stop",
    ]
    assert isinstance(plain[1], RunProgram)
    assert plain[1].name == "load"
    assert no_code is None
    assert code == programs(_answered().answers)
    assert execution.host_seconds == 4.0
    assert [one.event for one in execution.answers] == ["ran"]


def test_a_count_that_differs_with_the_plugin_fails_the_trial() -> None:
    with pytest.raises(TrialError, match="the plugin changed what it watched"):
        _asked(_answered(7), _answered(8), [run("load", ["true"], clock="tsc")])
