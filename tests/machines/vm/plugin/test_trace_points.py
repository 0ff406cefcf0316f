"""The points that the plugin is to note."""

from hardcost.machines.vm.plugin import elf_symbols, trace_points
from hardcost.protocol.ask import install
from hardcost.supply.programs import program_path

KERNEL = """\
data ffffffff82000000 init_task
kernel ffffffff81000000 __x64_sys_chmod
kernel ffffffff81000100 chmod_common
kernel ffffffff81000200 ttwu_do_activate
kernel ffffffff81000300 ttwu_do_wakeup
kernel ffffffff81000400 wake_up_new_task
kernel ffffffff81000500 skb_free_datagram
kernel ffffffff81000600 fanotify_handle_event
kernel ffffffff81000700 fanotify_write
kernel ffffffff81000800 finish_permission_event.isra.0
kernel ffffffffc0000000 ext4_file_write_iter [ext4]
"""
READINGS = ("hardcost-probe", "hardcost-measured")


def test_calls_wake_ups_questions_and_answers_are_noted() -> None:
    assert list(trace_points.trace_lines(KERNEL, [])) == [
        "traced ffffffff81000000",
        "wakes ffffffff81000300",
        "wakes ffffffff81000400",
        "traced ffffffff81000500",
        "traced ffffffff81000600",
        "asks ffffffff81000600",
        "answers ffffffff81000700",
        "answers ffffffff81000800",
        "traced ffffffffc0000000",
    ]


def test_a_kernel_without_the_older_function_has_the_newer_one() -> None:
    newer = KERNEL.replace("ttwu_do_wakeup", "other")
    assert "wakes ffffffff81000200" in list(trace_points.trace_lines(newer, []))


def test_the_caller_reads_the_clock_where_no_window_ends() -> None:
    content = program_path(trace_points.CALLER).read_bytes()
    job = [install(f"/usr/local/bin/{trace_points.CALLER}", content, 0o755)]
    marks = {line.removeprefix("mark ") for line in trace_points.trace_lines("", job)}
    assert marks
    for name in READINGS:
        readings = elf_symbols.places_of(program_path(name).read_bytes(), trace_points.RDTSC)
        assert not marks & {f"{address:x}" for address in readings}
