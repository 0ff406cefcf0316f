// SPDX-License-Identifier: GPL-2.0
/*
 * Patch 2: a rule that can't be copied frees what the LSM keeps for it, which is freed again.
 *
 * The exe field can't be copied, since the directory above the program's was renamed. The LSM
 * field, which comes after it, is then still the original's. Needs KASAN to be seen, and SELinux.
 */
#include "audit_fault.h"

int main(int argc, char **argv)
{
	struct rule rule = every_call();

	begin(argc, argv);
	need_selinux();
	need(mkdir(PLACE "/opt", 0700) || mkdir(PLACE "/opt/bin", 0700), PLACE);
	text(&rule, AUDIT_EXE, PLACE "/opt/bin/program");
	text(&rule, AUDIT_SUBJ_TYPE, lsm_type);
	add(&rule);
	need(rename(PLACE "/opt", PLACE "/opt.old"), "renaming");
	renew_rules();
	end_by_report(5, "the rule was renewed or went");
}
