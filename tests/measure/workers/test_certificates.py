"""The certificate of a run: in which folder it lies, and that no link leads it elsewhere."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.measure.workers.certificates import security_of, with_certificate
from hardcost.measure.workers.lab import lab_at

LAB = lab_at("tls://127.0.0.1:18791")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_certificate_is_closed_to_others_and_goes_with_its_scheduler(cache: Path) -> None:
    (cache / "labs").mkdir(parents=True, mode=0o755)
    with with_certificate(LAB) as known:
        (kept,) = (cache / "labs").iterdir()
        assert kept.read_text() == known.own
        assert security_of(LAB).get_connection_args("client")["require_encryption"]
        assert [stat.S_IMODE(one.stat().st_mode) for one in (kept, kept.parent)] == [0o600, 0o700]
    assert not kept.exists()


def test_the_certificate_of_a_later_scheduler_stays(cache: Path) -> None:
    with with_certificate(LAB):
        (kept,) = (cache / "labs").iterdir()
        kept.write_text("another")
    assert kept.read_text() == "another"


def test_no_key_is_written_or_read_through_a_link(cache: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    cache.mkdir()
    (cache / "labs").symlink_to(shared)
    with pytest.raises(MachineError, match="labs in the cache is no folder"), with_certificate(LAB):
        pass
    assert stat.S_IMODE(shared.stat().st_mode) == 0o777
    assert list(shared.iterdir()) == []
    with pytest.raises(MachineError, match="labs in the cache is no folder"):
        security_of(LAB)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_a_folder_of_another_user_holds_no_key(cache: Path) -> None:
    (cache / "labs").mkdir(parents=True)
    os.chown(cache / "labs", 65534, 65534)
    with pytest.raises(MachineError, match="no folder of this user's"), with_certificate(LAB):
        pass
    assert list((cache / "labs").iterdir()) == []


def test_a_link_or_pipe_in_place_of_a_certificate_is_replaced_and_never_read(cache: Path) -> None:
    with with_certificate(LAB):
        (kept,) = (cache / "labs").iterdir()
    aim = cache / "aim"
    aim.write_text("precious")
    for kind in ("link", "pipe"):
        kept.symlink_to(aim) if kind == "link" else os.mkfifo(kept)
        with with_certificate(LAB) as known:
            assert kept.read_text() == known.own
            assert kept.lstat().st_nlink == 1
        assert not kept.exists()
    assert aim.read_text() == "precious"
