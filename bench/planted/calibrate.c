/* What a number of dependent multiplications after a system call takes, in nanoseconds.
 *
 * The same code as crates/measured/src/planted.rs, in one process and alternating every fraction of
 * a millisecond, so that nothing that drifts or differs between processes comes in: the median over
 * ROUNDS of the time of COUNT of them less that of none. `calibrate COUNT ROUNDS`. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LENGTH = 4, REPEATS = 1000, MOST = 10000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static double each(uint64_t offset) {
    double begin = now();
    for (int i = 0; i < REPEATS; i++) {
        uint64_t target, number = 3;
        syscall(SYS_getppid);
        __asm__ volatile("lfence\n"
                         "lea 3f(%%rip), %[target]\n"
                         "sub %[offset], %[target]\n"
                         "jmp *%[target]\n"
                         ".p2align 11\n"
                         ".rept 256\n"
                         "imul %[number], %[number]\n"
                         ".endr\n"
                         "3:\n"
                         "lfence\n"
                         : [target] "=&r"(target), [number] "+r"(number)
                         : [offset] "r"(offset)
                         : "memory", "cc");
    }
    return (now() - begin) / REPEATS;
}

static int ascending(const void *a, const void *b) {
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

int main(int count, char **words) {
    if (count != 3)
        return 2;
    uint64_t offset = LENGTH * strtoul(words[1], NULL, 10);
    long rounds = strtol(words[2], NULL, 10);
    if (rounds < 1 || rounds > MOST)
        return 2;
    static double found[MOST];
    for (long round = 0; round < rounds; round++) {
        double none = each(0), some = each(offset);
        some += each(offset);
        none += each(0);
        found[round] = (some - none) / 2;
    }
    qsort(found, rounds, sizeof *found, ascending);
    printf("%.4f\n", found[rounds / 2]);
    return 0;
}
