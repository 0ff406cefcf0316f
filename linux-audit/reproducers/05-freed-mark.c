// SPDX-License-Identifier: GPL-2.0
/*
 * Patch 5: a filter reads a rule's mark after it was freed.
 *
 * Renewing a rule drops its mark, which fsnotify frees without regard to the filters that read it
 * under RCU. Processes of the lowest priority walk many rules with exe fields, and are preempted
 * in the middle of it. Needs KASAN to be seen, SELinux, and a kernel that is preemptible (PREEMPT).
 */
#include "audit_fault.h"

#include <sched.h>

#define RULES 200
#define CALLERS 8
#define SECONDS 50

static void call_forever(void)
{
	struct sched_param none = {};

	sched_setscheduler(0, SCHED_IDLE, &none);
	for (;;)
		syscall(SYS_getppid);
}

int main(int argc, char **argv)
{
	char path[64];
	const char *line;
	double until;

	begin(argc, argv);
	need_selinux();
	need(mkdir(PLACE "/d", 0700), PLACE);
	for (int i = 0; i < RULES; i++) {
		struct rule rule = every_call();

		snprintf(path, sizeof(path), PLACE "/d/program%d", i);
		text(&rule, AUDIT_EXE, path);
		text(&rule, AUDIT_SUBJ_TYPE, lsm_type);
		add(&rule);
	}
	for (int i = 0; i < CALLERS; i++) {
		if (fork() == 0)
			call_forever();
	}
	until = now() + SECONDS;
	while (!(line = reported()) && now() < until) {
		renew_rules();
		usleep(20000);
	}
	if (line)
		end(FAULTY, "%s", line);
	end(FINE, "%d processes made calls for %d s", CALLERS, SECONDS);
}
