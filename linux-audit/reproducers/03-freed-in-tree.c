// SPDX-License-Identifier: GPL-2.0
/*
 * Patch 3: a rule on a directory that can't be copied stays in the directory's list, and is freed.
 *
 * The LSM field comes before exe here, so that the fault of patch 2 does not occur. Needs SELinux.
 */
#include "audit_fault.h"

int main(int argc, char **argv)
{
	struct rule rule = every_call();

	begin(argc, argv);
	need_selinux();
	need(mkdir(PLACE "/opt", 0700) || mkdir(PLACE "/opt/bin", 0700), PLACE);
	need(mkdir(PLACE "/watched", 0700), PLACE);
	text(&rule, AUDIT_DIR, PLACE "/watched");
	text(&rule, AUDIT_SUBJ_TYPE, lsm_type);
	text(&rule, AUDIT_EXE, PLACE "/opt/bin/program");
	add(&rule);
	need(rename(PLACE "/opt", PLACE "/opt.old"), "renaming");
	renew_rules();
	sleep(2);		/* for the grace period after which the rule is freed */
	rmdir(PLACE "/watched");
	end_by_report(5, "the directory went");
}
