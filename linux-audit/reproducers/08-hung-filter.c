// SPDX-License-Identifier: GPL-2.0
/*
 * Patch 8: adding a rule on a file whose directory is removed hangs the audit filter for good.
 *
 * audit_add_watch() puts the last reference to the directory while it holds audit_filter_mutex,
 * for which the event of the directory's end then waits. Needs nothing; the machine has to be
 * rebooted afterwards.
 */
#include <sys/mman.h>

#include "audit_fault.h"

#define LOADERS 3
#define SECONDS 50
#define HUNG 10		/* seconds without a change of a rule */

static volatile unsigned long *changes;

static void remove_forever(void)
{
	for (;;) {
		mkdir(PLACE "/d", 0700);
		rmdir(PLACE "/d");
	}
}

static void load_forever(int which)
{
	int fd = audit_socket();
	struct rule rule = every_call();

	text(&rule, AUDIT_WATCH, PLACE "/d/file");
	number(&rule, AUDIT_UID, 70000 + which);
	for (;;) {
		change(fd, AUDIT_ADD_RULE, &rule);
		change(fd, AUDIT_DEL_RULE, &rule);
		__atomic_add_fetch(changes, 1, __ATOMIC_RELAXED);
	}
}

int main(int argc, char **argv)
{
	unsigned long seen = 0;
	double last, until;

	begin(argc, argv);
	changes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(changes == MAP_FAILED, "shared memory");
	if (fork() == 0)
		remove_forever();
	for (int i = 0; i < LOADERS; i++) {
		if (fork() == 0)
			load_forever(i);
	}
	last = now();
	for (until = last + SECONDS; now() < until; usleep(100000)) {
		if (*changes != seen) {
			seen = *changes;
			last = now();
		} else if (now() - last > HUNG) {
			end(FAULTY, "after %lu changes no rule can be added or deleted any more",
			    seen);
		}
	}
	end(FINE, "rules were added and deleted %lu times while their directory came and went",
	    seen);
}
