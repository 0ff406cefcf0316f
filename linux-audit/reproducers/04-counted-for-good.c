// SPDX-License-Identifier: GPL-2.0
/*
 * Patch 4: a rule that goes with its directory stays counted, and every call pays for it.
 *
 * Prints what a getppid() takes without rules, after a rule was added and deleted, and after one
 * was added and its directory removed. Needs nothing but that no rule is loaded.
 */
#include "audit_fault.h"

#define CALLS 200000
#define BATCHES 10

static double nanoseconds(void)
{
	double best = 1e9;

	for (int batch = 0; batch < BATCHES; batch++) {
		double from = now();

		for (int i = 0; i < CALLS; i++)
			syscall(SYS_getppid);
		from = (now() - from) / CALLS * 1e9;
		if (from < best)
			best = from;
	}
	return best;
}

int main(int argc, char **argv)
{
	struct rule rule = every_call();
	double before, deleted, gone;

	begin(argc, argv);
	text(&rule, AUDIT_DIR, PLACE "/d");
	before = nanoseconds();
	need(mkdir(PLACE "/d", 0700), PLACE);
	add(&rule);
	errno = -change(sock, AUDIT_DEL_RULE, &rule);
	need(errno, "deleting the rule");
	deleted = nanoseconds();
	add(&rule);
	rmdir(PLACE "/d");
	sleep(2);
	if (change(sock, AUDIT_DEL_RULE, &rule) != -ENOENT)
		end(UNTRIED, "the rule did not go with its directory");
	gone = nanoseconds();
	end(gone > 1.15 * deleted ? FAULTY : FINE,
	    "a getppid() takes %.0f ns without rules, %.0f ns after one was deleted, %.0f ns after"
	    " one went with its directory", before, deleted, gone);
}
