// SPDX-License-Identifier: GPL-2.0
/*
 * Patch 6: the event of an exe field's directory looks at a rule that is gone, or half made.
 *
 * One process moves the directory away and back, others add and delete rules whose program is in
 * it. Needs nothing.
 */
#include "audit_fault.h"

#define LOADERS 3
#define SECONDS 50

static void move_forever(void)
{
	for (;;) {
		rename(PLACE "/d", PLACE "/e");
		rename(PLACE "/e", PLACE "/d");
	}
}

static void load_forever(int which)
{
	int fd = audit_socket();
	struct rule rule = every_call();

	if (which == 1)
		text(&rule, AUDIT_DIR, PLACE "/w");
	text(&rule, AUDIT_EXE, PLACE "/d/program");
	number(&rule, AUDIT_UID, 70000 + which);
	for (;;) {
		change(fd, AUDIT_ADD_RULE, &rule);
		change(fd, AUDIT_DEL_RULE, &rule);
	}
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	need(mkdir(PLACE "/d", 0700) || mkdir(PLACE "/w", 0700), PLACE);
	if (fork() == 0)
		move_forever();
	for (int i = 0; i < LOADERS; i++) {
		if (fork() == 0)
			load_forever(i);
	}
	end_by_report(SECONDS, "rules were added and deleted while their directory moved");
}
