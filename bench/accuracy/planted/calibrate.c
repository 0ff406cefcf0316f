/* What more turns of a loop of multiplications after a system call take, in nanoseconds.
 *
 * The same code as crates/measured/src/planted_cost.rs, in one process and alternating every
 * fraction of a millisecond, so that nothing that drifts or differs between processes comes in: the
 * median over ROUNDS of the time of COUNT more of them less that of none more. `calibrate COUNT ROUNDS`. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WITHOUT = 64, REPEATS = 1000, MOST = 10000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static double each(uint64_t count) {
    double begin = now();
    for (int i = 0; i < REPEATS; i++) {
        uint64_t turns = WITHOUT + count, number = 3;
        syscall(SYS_getppid);
        __asm__ volatile("lfence\n"
                         "2:\n"
                         "imul %[number], %[number]\n"
                         "dec %[turns]\n"
                         "jnz 2b\n"
                         "lfence\n"
                         : [turns] "+r"(turns), [number] "+r"(number)
                         :
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
    uint64_t more = strtoul(words[1], NULL, 10);
    long rounds = strtol(words[2], NULL, 10);
    if (rounds < 1 || rounds > MOST)
        return 2;
    static double found[MOST];
    for (long round = 0; round < rounds; round++) {
        double none = each(0), some = each(more);
        some += each(more);
        none += each(0);
        found[round] = (some - none) / 2;
    }
    qsort(found, rounds, sizeof *found, ascending);
    printf("%.4f\n", found[rounds / 2]);
    return 0;
}
