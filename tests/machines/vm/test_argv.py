"""QEMU's command line: what makes a count exact must be in it."""

import dataclasses
from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.machines.vm import argv
from hardcost.machines.vm.confinement import GuestOutput
from hardcost.protocol.boot import Boot, KernelRecipe
from hardcost.supply.images.root_image import RootImage

STREAMS = argv.Streams(
    Path("/f,g"),
    Path("/a,b/ram"),
    GuestOutput(Path("/f,g/console"), 11),
    GuestOutput(Path("/f,g/answers"), 12),
    GuestOutput(Path("/f,g/serial"), 13),
    Path("/proc/self/fd/14"),
    7,
)
FRESH = Boot(kernel=KernelRecipe())
ICOUNT = argv.Hardware("icount")
STOPPED = Boot()
DEBIAN = Boot(guest="debian")
DISKS = (
    RootImage(Path("/images/root,1"), "r00t", "a root", 4 << 30),
    RootImage(Path("/images/tree"), "7ree", "a tree", 128 << 20, partition=2),
)


def made(
    boot: Boot = STOPPED, kernel: Path = Path("/k"), disks: tuple[RootImage, ...] = ()
) -> argv.Recipe:
    return argv.Recipe(ICOUNT, boot, kernel, Path("/i"), disks)


def test_the_exact_machine_counts_instructions_on_a_virtual_clock() -> None:
    words = " ".join(argv.machine_words(ICOUNT, Boot()))
    for needed in ("-icount shift=0,sleep=off", "clock=vm", "rdrand=off", "erms=off", "-smp 1"):
        assert needed in words


def test_several_processors_boot_with_few_and_go_on_among_many() -> None:
    four = argv.Hardware("icount", processors=4)
    recipe = dataclasses.replace(made(), hardware=four)
    booting = argv.boot_words(recipe, STREAMS)
    restored = argv.restore_words(recipe, STREAMS)
    assert booting[booting.index("-smp") + 1] == "6,maxcpus=64"
    assert restored[restored.index("-smp") + 1] == "64,maxcpus=64"
    assert "-smp 64,maxcpus=64" in " ".join(argv.machine_words(four, Boot()))
    assert "nr_cpus=6 hardcost.processors=4" in argv.kernel_line(four, Boot())
    assert "hardcost.processors" not in argv.kernel_line(ICOUNT, Boot())
    assert not argv.Hardware("tcg", processors=2).takes_turns


def test_a_fixed_layout_switches_randomisation_off_and_a_seed_switches_it_on() -> None:
    assert "nokaslr norandmaps" in argv.kernel_line(ICOUNT, Boot())
    seeded = argv.kernel_line(ICOUNT, Boot(layout_seed=3))
    assert "nokaslr" not in seeded
    assert "hardcost.seed=3" in seeded


def test_two_seeds_are_two_machines() -> None:
    hardware = ICOUNT
    first, second = (argv.machine_words(hardware, Boot(layout_seed=seed)) for seed in (1, 2))
    assert first != second


def test_boot_parameters_come_last_so_that_they_win() -> None:
    assert argv.kernel_line(ICOUNT, Boot(("audit=0",))).endswith(" audit=0")


@pytest.mark.parametrize("word", ["", "x", "hardcost.placebo=" + "x" * 300])
def test_the_kernels_line_is_as_long_whatever_a_configuration_adds(word: str) -> None:
    line = argv.kernel_line(ICOUNT, Boot((word,) if word else ()))
    assert len(line) % 512 == 0


def test_a_line_that_padding_would_have_the_kernel_cut_off_is_left_as_it_is() -> None:
    words = tuple(f"hardcost.placebo={'x' * 180}" for _ in range(8))
    assert len(argv.kernel_line(ICOUNT, Boot(words))) < 2048
    assert "hardcost.pad" not in argv.kernel_line(ICOUNT, Boot(words))


def test_a_comma_in_a_path_is_doubled_in_option_lists() -> None:
    words = argv.restore_words(made(kernel=Path("/k,1")), STREAMS)
    assert any("mem-path=/a,,b/ram" in word for word in words)
    assert "/k,1" in words


def test_only_a_restored_guest_waits_and_writes_to_memory_of_its_own() -> None:
    boot = " ".join(argv.boot_words(made(), STREAMS))
    restore = " ".join(argv.restore_words(made(), STREAMS))
    assert "share=on" in boot
    assert "-incoming" not in boot
    assert "share=off" in restore
    assert "-S -incoming defer" in restore


def test_a_kernel_that_was_built_boots_afresh_and_is_never_stopped() -> None:
    assert argv.boots_afresh(FRESH)
    fresh, stopped = (
        argv.kernel_line(ICOUNT, FRESH).split(),
        argv.kernel_line(ICOUNT, Boot()).split(),
    )
    assert {"hardcost.snapshot", "iomem=relaxed"} <= set(stopped) - set(fresh)
    assert "nolapic" in set(fresh) - set(stopped)
    words = argv.machine_words(ICOUNT, FRESH)
    assert "pvpanic" not in words
    assert "pvpanic" in argv.machine_words(ICOUNT, Boot())


def test_memory_without_a_file_goes_with_the_guest() -> None:
    streams = dataclasses.replace(STREAMS, memory=None)
    words = " ".join(argv.boot_words(made(FRESH), streams))
    assert "memory-backend-ram,id=pcram,size=512M" in words
    assert "mem-path" not in words


@pytest.mark.parametrize("boot", [Boot(), FRESH])
def test_a_guest_can_answer_by_the_debug_console_and_by_its_second_serial_port(boot: Boot) -> None:
    words = " ".join(argv.boot_words(made(boot), STREAMS))
    for device, name in (("isa-debugcon,iobase=0xe9", "answers"), ("isa-serial,index=1", "serial")):
        assert f"-device {device},chardev={name}" in words
    assert STREAMS.places == (Path("/f,g/answers"), Path("/f,g/serial"))


def test_what_a_guest_says_leaves_by_inherited_descriptors_alone() -> None:
    words = " ".join(argv.restore_words(made(), STREAMS))
    for number, (name, descriptor) in enumerate(
        (("console", 11), ("answers", 12), ("serial", 13)), start=1
    ):
        assert f"-add-fd fd={descriptor},set={number}" in words
        assert f"-chardev file,id={name},path=/dev/fdset/{number}" in words
    # The trial's folder is but a name to who looks at the processes.
    assert words.count("/f,,g") == 1
    assert "-name guest=/f,,g" in words


def test_identity_words_hold_no_path() -> None:
    assert not any("/" in word for word in argv.machine_words(ICOUNT, Boot()))


def test_disks_lie_behind_each_other_where_the_kernel_is_reported_that_they_are() -> None:
    line = argv.kernel_line(ICOUNT, DEBIAN, DISKS)
    assert "memmap=4096M!4096M hardcost.root=/dev/pmem0,ext4" in line
    assert "memmap=128M!8192M hardcost.tree=/dev/pmem1p2,ext4" in line
    words = argv.machine_words(ICOUNT, DEBIAN, DISKS)
    assert "nvdimm,memdev=disk0,addr=0x100000000" in words
    assert "nvdimm,memdev=disk1,addr=0x200000000" in words
    assert not any("/" in word for word in words)


def test_a_guest_writes_to_no_disk_s_file() -> None:
    """Before a snapshot it can't write at all, and later what it writes is its own."""
    saved = " ".join(argv.boot_words(made(DEBIAN, disks=DISKS), STREAMS))
    assert saved.count(",share=on,readonly=on,mem-path=/images/") == len(DISKS)
    assert "mem-path=/images/root,,1" in saved
    for words in (
        argv.restore_words(made(DEBIAN, disks=DISKS), STREAMS),
        argv.boot_words(made(dataclasses.replace(DEBIAN, fresh=True), disks=DISKS), STREAMS),
    ):
        assert " ".join(words).count(",share=off,mem-path=/images/") == len(DISKS)


@pytest.mark.parametrize("boot", [Boot(fresh=True), Boot(guest="debian", init="systemd")])
def test_a_boot_can_be_asked_to_be_fresh_and_one_of_systemd_always_is(boot: Boot) -> None:
    assert argv.boots_afresh(boot)
    assert "hardcost.snapshot" not in argv.kernel_line(ICOUNT, boot)


@pytest.mark.parametrize("word", ["nolapic", "nolapic_timer", "disableapic", "lockdown=integrity"])
def test_a_boot_whose_timer_cannot_be_silenced_is_never_stopped(word: str) -> None:
    line = argv.kernel_line(ICOUNT, Boot((word,))).split()
    assert argv.boots_afresh(Boot((word,)))
    assert word in line
    assert "iomem=relaxed" in line
    assert "hardcost.snapshot" not in line


def test_systemd_is_asked_for_by_a_word_for_the_probe() -> None:
    whole = Boot(guest="debian", init="systemd")
    assert "hardcost.init=systemd" in argv.kernel_line(ICOUNT, whole, DISKS).split()
    assert "systemd" not in argv.kernel_line(ICOUNT, DEBIAN, DISKS)


def test_only_a_guest_that_counts_instructions_is_kept_busy() -> None:
    assert "hardcost.spin" in argv.kernel_line(ICOUNT, DEBIAN, DISKS).split()
    assert "hardcost.spin" in argv.kernel_line(ICOUNT, STOPPED).split()
    assert "hardcost.spin" not in argv.kernel_line(argv.Hardware("tcg"), DEBIAN, DISKS)
    assert "hardcost.spin" not in argv.kernel_line(argv.Hardware("tcg"), STOPPED)


def test_a_line_that_the_kernel_would_cut_is_refused() -> None:
    _, _, unpadded = argv.kernel_line(ICOUNT, Boot()).partition(" ")
    spare = argv.LONGEST_LINE - len(unpadded) - 1
    line = argv.kernel_line(ICOUNT, Boot(parameters=("x" * spare,)))
    assert len(line) == argv.LONGEST_LINE == 2047
    with pytest.raises(InputError, match=r"would have 2048 bytes, .* the kernel takes 2047"):
        argv.kernel_line(ICOUNT, Boot(parameters=("x" * (spare + 1),)))
