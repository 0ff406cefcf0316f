# shellcheck shell=sh
# count_calls SECONDS [PID]: counts the system calls of the machine, or of one process by strace.
# The first line that it prints names what counted, the rest is what that printed. Where no program
# may count calls, /proc does, before and after; the second line says why.

count_calls() {
    if [ -n "${2:-}" ]; then
        echo strace
        # It detaches when it is interrupted, and prints the counts.
        timeout --foreground -s INT "$1" strace -f -c -p "$2" 2>&1 </dev/null
        return 0
    fi
    reasons=''
    by_number='tracepoint:raw_syscalls:sys_enter { @calls[args->id] = count(); }'
    counted_by bpftrace -e "$by_number interval:s:$1 { exit(); }" && return 0
    counted_by perf trace -a -s -- sleep "$1" && return 0
    printf 'proc\n%s\n' "$reasons"
    count_in_proc
    sleep "$1"
    printf 'after\n'
    count_in_proc
}

counted_by() {
    if ! command -v "$1" >/dev/null; then
        reasons="$reasons$1 is not installed; "
        return 1
    elif said=$("$@" 2>&1 </dev/null); then
        printf '%s\n%s\n' "$1" "$said"
    else
        reasons="$reasons$1: $(printf '%s' "$said" | grep . | head -n 1); "
        return 1
    fi
}

# Prints how many processes were made since the boot, and the reads and writes of each that runs.
count_in_proc() {
    grep '^processes ' /proc/stat
    grep '^sysc[rw]: ' /proc/[0-9]*/io 2>/dev/null || :  # some processes end meanwhile
}
