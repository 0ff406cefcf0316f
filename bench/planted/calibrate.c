/* What a number of dependent multiplications takes between two fences, in nanoseconds.
 *
 * The same code as crates/measured/src/planted.rs, timed by itself: one line for each round, the
 * time of COUNT of them less that of none. `calibrate COUNT ROUNDS`. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LENGTH = 4, REPEATS = 20000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static double each(uint64_t offset) {
    double begin = now();
    for (int i = 0; i < REPEATS; i++) {
        uint64_t target, number = 3;
        __asm__ volatile("lfence\n"
                         "lea 3f(%%rip), %[target]\n"
                         "sub %[offset], %[target]\n"
                         "jmp *%[target]\n"
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

int main(int count, char **words) {
    if (count != 3)
        return 2;
    uint64_t offset = LENGTH * strtoul(words[1], NULL, 10);
    for (long round = strtol(words[2], NULL, 10); round > 0; round--) {
        double none = each(0), some = each(offset);
        printf("%.3f\n", some - none);
    }
    return 0;
}
