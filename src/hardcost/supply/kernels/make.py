"""make for kernel builds: its environment, its sandbox, and its output folders.

A build of a source other than Debian's own is untrusted: it runs in the sandbox or, unless the user
says otherwise, not at all; its output is checked before anything of it is read.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host import sandbox
from hardcost.supply.cache import manifest
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.kernels.patches import Patch

# Also, `-frandom-seed` keeps the latent entropy plugin from asking the system for randomness.
_ENVIRONMENT = {
    "KBUILD_BUILD_TIMESTAMP": "2026-01-01",
    "KBUILD_BUILD_USER": "hardcost",
    "KBUILD_BUILD_HOST": "hardcost",
    "KBUILD_BUILD_VERSION": "1",
    "KCFLAGS": "-frandom-seed=hardcost",
    "ARCH": "x86_64",
    "LOCALVERSION": "",  # if unset, the state of a git tree would be added to the release
    "LC_ALL": "C.UTF-8",
}
_FROM_USER = ("PATH", "HOME", "TMPDIR")  # no other environment variable reaches a build
_CCACHE_SIZE = "8G"
_SHOWN_NAMES = 5  # of the files that a note names
_TEMPORARY = "/tmp"  # noqa: S108  (the sandbox's own)
_CONFINED = "the build is confined (no network, no files but its own)"


@dataclass(frozen=True)
class BuildOutput:
    """A folder that make writes to: its path for make, and its real path, if different.

    `root` is an empty folder for the sandbox of the build.
    """

    at: Path
    elsewhere: Path | None = None
    root: Path | None = None

    @property
    def real(self) -> Path:
        """Its real path."""
        return self.elsewhere or self.at

    @property
    def _opened(self) -> Path:
        return self.at.with_name(f"{self.at.name}.open")

    def open(self, entry: str) -> None:
        """Make it writable, and empty unless it is as `seal` left it."""
        if self._opened.exists() or manifest.damage(self.at, entry) is not None:
            shutil.rmtree(self.at, ignore_errors=True)
        self._opened.touch()
        self.at.mkdir(exist_ok=True)
        (self.at / manifest.FILE).unlink(missing_ok=True)

    def seal(self, entry: str) -> None:
        """Record its content."""
        self.at.mkdir(exist_ok=True)
        (self.at / manifest.FILE).unlink(missing_ok=True)
        manifest.write(self.at, entry)
        self._opened.unlink(missing_ok=True)

    def put(self, name: str, text: str) -> None:
        """Write a file there, replacing any other."""
        (self.real / name).unlink(missing_ok=True)
        (self.real / name).write_text(text)

    def file(self, name: str) -> Path:
        """Return a file of make's output.

        Raises:
            MachineError: It is not a file, or lies elsewhere.
        """
        path = self.real / name
        if path.resolve() != self.real.resolve() / name or not path.is_file():
            raise _odd(path, "is not a file of the build's own")
        return path

    def check(self, source: Path) -> None:
        """Check that there are only files, folders, and links to these or to the source.

        Raises:
            MachineError: There is something else.
        """
        inside = [os.path.realpath(folder) for folder in (self.at, self.real, source)]
        for folder, folders, files in os.walk(self.real):
            for path in (Path(folder, name) for name in (*folders, *files)):
                if path.is_symlink():
                    if not any(Path(os.path.realpath(path)).is_relative_to(one) for one in inside):
                        raise _odd(path, "leads out of the build")
                elif not path.is_file() and not path.is_dir():
                    raise _odd(path, "is neither a file nor a folder")


def _odd(path: Path, what: str) -> MachineError:
    return MachineError(
        f"the build left {path.name}, which {what}", hint="look at what its source does"
    )


@dataclass(frozen=True)
class Trust:
    """The handling of programs of the user's that run on this machine during a build.

    If they can't be confined they run only if `unconfined`. `warn` receives each warning once.
    """

    unconfined: bool = False
    warn: Callable[[str], None] = lambda _: None


class KernelMake:
    """make for the sources of one `Kernels`; `folder` is the user's source, None for Debian's."""

    def __init__(self, cache: Cache, folder: Path | None, trust: Trust) -> None:
        self._cache = cache
        self._folder = folder
        self._trust = trust
        self._warned: set[str] = set()

    def warn(self, text: str) -> None:
        """Warn, once for each text."""
        if text not in self._warned:
            self._warned.add(text)
            self._trust.warn(text)

    def how(self) -> str:
        """Return how a build with foreign programs runs, for a reader."""
        reason = sandbox.why_not()
        if reason is None:
            return _CONFINED
        if self._trust.unconfined:
            return f"the build is not confined ({reason})"
        return f"it can't be confined here ({reason})"

    def remarks(self, read: Sequence[Patch]) -> tuple[str, ...]:
        """Return which code of the user's runs on this machine during a build, and how."""
        runs = [
            f"the patch {patch.name} changes {_list_names(patch.run)}, which"
            f" {'runs' if len(patch.run) == 1 else 'run'} on this machine while"
            " the kernel is built"
            for patch in read
            if patch.run and not patch.is_ours
        ]
        if self._folder is not None:
            runs.insert(0, f"parts of {self._folder} run on this machine while a kernel is built")
        return tuple(f"{one}; {self.how()}" for one in runs)

    def is_confined(self, *, foreign: bool) -> bool:
        """Say whether a build runs in the sandbox; `foreign`: it runs code written by others.

        Raises:
            MachineError: It must, but can't.
        """
        reason = sandbox.why_not()
        if reason is None:
            return True
        if foreign and not self._trust.unconfined:
            raise MachineError(
                "this build runs programs from a source or patch of yours on this machine, and"
                f" can't be confined: {reason}",
                hint=f"{sandbox.REMEDY}; or run them with all of your own rights:"
                " --allow-unconfined-build",
            )
        if not foreign:
            self.warn(f"kernels are built from Debian's source without a sandbox: {reason}")
        return False

    def ccache(self, *, foreign: bool) -> tuple[Path, dict[str, str]]:
        """Return the compiler's cache, and its settings.

        A foreign build may read the cache but adds nothing to it, since it could add false objects.
        A source of the user's has a cache of its own.
        """
        name, title = "ccache", "compiler's cache"
        if self._folder is not None:
            name, title = digest({"ccache of": str(self._folder)}), f"{title} of {self._folder}"
        place = self._cache.make("builds", name, title, lambda _: None)
        more = {"CCACHE_DIR": str(place), "CCACHE_MAXSIZE": _CCACHE_SIZE}
        if foreign and self._folder is None:
            more |= {"CCACHE_READONLY": "1", "CCACHE_TEMPDIR": _TEMPORARY}
        return place, more

    def words(
        self, folder: Path, output: BuildOutput, more: Mapping[str, str], *, confined: bool
    ) -> list[str]:
        """Return the words that start make, with no environment but what hardcost sets."""
        user = {name: os.environ[name] for name in _FROM_USER if name in os.environ}
        if confined:
            user = {"PATH": user.get("PATH", os.defpath), "HOME": _TEMPORARY}
        pairs = [f"{name}={value}" for name, value in {**user, **_ENVIRONMENT, **more}.items()]
        return ["env", "-i", *pairs, "make", "-C", str(folder), f"O={output.at}"]

    @staticmethod
    def words_in_sandbox(
        argv: Sequence[str], output: BuildOutput, reads: Sequence[Path], writes: Mapping[Path, Path]
    ) -> list[str]:
        """Return the words that run `argv` in the sandbox, with a folder for its output."""
        if output.root is None:
            raise ValueError("an output without a root has no sandbox")
        written = {output.real: output.at, **writes}
        return sandbox.words(argv, output.root, reads=(output.at.parent, *reads), writes=written)


def _list_names(names: Sequence[str]) -> str:
    """Return names for a reader: the first few, and the number of the others."""
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")
