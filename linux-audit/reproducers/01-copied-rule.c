// SPDX-License-Identifier: GPL-2.0
/*
 * Patch 1: a copied rule's inode_f points into the rule it was copied from, which is freed.
 *
 * The rule is copied when LSM fields are renewed. When the directory of its exe field goes,
 * audit_find_rule() looks through inode_f. Needs KASAN to be seen, and SELinux.
 */
#include "audit_fault.h"

int main(int argc, char **argv)
{
	struct rule rule = every_call();
	struct stat watched;

	begin(argc, argv);
	need_selinux();
	create(PLACE "/watched");
	need(mkdir(PLACE "/d", 0700) || stat(PLACE "/watched", &watched), PLACE);
	number(&rule, AUDIT_INODE, watched.st_ino);
	text(&rule, AUDIT_EXE, PLACE "/d/program");
	text(&rule, AUDIT_SUBJ_TYPE, lsm_type);
	add(&rule);
	renew_rules();
	sleep(2);		/* for the grace period after which the original is freed */
	rmdir(PLACE "/d");
	end_by_report(5, "the rule went with its directory");
}
