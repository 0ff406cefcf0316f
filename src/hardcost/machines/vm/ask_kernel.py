"""Asks a guest's kernel how it reads a boot line, in a guest that boots for that alone.

Nothing is measured in that guest, so it may say all: its whole log goes to the console. The guests
in which trials run stay as silent as they are, and their counts as they were.
"""

from __future__ import annotations

import dataclasses
import json

from hardcost.files import json_value
from hardcost.machines.vm import argv
from hardcost.machines.vm.argv import Recipe
from hardcost.machines.vm.boot_log import KnownParameters, log_lines, verdicts
from hardcost.machines.vm.launch import BOOT_LIMIT_SECONDS, await_result, launch_guest
from hardcost.protocol.answers import Answer, ContentAnswer, all_of
from hardcost.protocol.ask import read
from hardcost.protocol.boot import Boot, BootAccount, WordVerdict
from hardcost.supply.cache.cache import Cache

RECIPE = "1"
"""Changes whenever the same boot line may be judged otherwise, so that it is asked about again."""

_TALKING = "ignore_loglevel"
_LOG_LIMIT = 1 << 20  # bytes
_JOB_SECONDS = 60.0
_FOLDER = "/sys/devices/system/cpu/vulnerabilities"
_FAULTS = (
    "gather_data_sampling",
    "ghostwrite",
    "indirect_target_selection",
    "itlb_multihit",
    "l1tf",
    "mds",
    "meltdown",
    "mmio_stale_data",
    "old_microcode",
    "reg_file_data_sampling",
    "retbleed",
    "spec_rstack_overflow",
    "spec_store_bypass",
    "spectre_v1",
    "spectre_v2",
    "srbds",
    "tsa",
    "tsx_async_abort",
    "vmscape",
)
_PASSED_ON = ("/proc/1/environ", "/proc/1/cmdline")


def talking_guest(boot: Boot) -> Boot:
    """Return the boot of the small guest that is asked about the boot line of `boot`."""
    words = (_TALKING, *boot.parameters)
    return Boot(words, kernel=boot.kernel, fresh=True, shipped=boot.shipped)


def without_counter(hardware: argv.Hardware) -> argv.Hardware:
    """Return the same processor without the instruction counter, which boots faster."""
    if hardware.acceleration != "icount":
        return hardware
    return dataclasses.replace(hardware, acceleration="tcg")


async def ask(recipe: Recipe, cache: Cache, known: KnownParameters, boot: Boot) -> BootAccount:
    """Boot `recipe`, the talking guest of `boot`, and return what its kernel says.

    Raises:
        MachineError: The guest does not boot, or does not answer.
    """
    job = [
        *(read(name, f"{_FOLDER}/{name}") for name in _FAULTS),
        *(read(path, path, tail=_LOG_LIMIT) for path in _PASSED_ON),
    ]
    limit = BOOT_LIMIT_SECONDS + _JOB_SECONDS
    async with launch_guest(
        recipe, argv.boot_words, cache, job, memory=None, limit_seconds=limit
    ) as launch:
        await launch.guest.until_heard(BOOT_LIMIT_SECONDS)
        execution = await await_result(launch, _JOB_SECONDS)
        with launch.guest.streams.console.path.open("rb") as file:
            console = file.read(_LOG_LIMIT).decode(errors="replace")
    texts = _texts(execution.answers)
    passed_on = [word for path in _PASSED_ON for word in texts.get(path, "").split("\0") if word]
    return BootAccount(
        verdicts(
            boot.parameters,
            passed_on,
            log_lines(console),
            known,
            whole_system=boot.init == "systemd",
        ),
        tuple((name, texts[name].strip()) for name in _FAULTS if name in texts),
    )


def account_to_json(account: BootAccount) -> str:
    """Return an account as text."""
    return json.dumps(dataclasses.asdict(account))


def account_from_json(text: str) -> BootAccount:
    """Return the account that `account_to_json` made `text` of.

    Raises:
        ValueError: It is not such a text.
    """
    try:
        data = json_value(text)
        return BootAccount(
            tuple(WordVerdict(**one) for one in data["verdicts"]),
            tuple((name, said) for name, said in data["faults"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is no account of a boot: {error!r}") from None


def _texts(answers: tuple[Answer, ...]) -> dict[str, str]:
    """Return the content of the files that were read, by the names in the requests."""
    contents = all_of(answers, ContentAnswer)
    return {answer.name: answer.text for answer in contents if answer.text is not None}
