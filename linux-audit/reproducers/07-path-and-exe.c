// SPDX-License-Identifier: GPL-2.0
/*
 * Patch 7: a rule with path and exe matches no more once its file was replaced.
 *
 * The copy of the rule takes the watched file for the program. Needs nothing.
 */
#include "audit_fault.h"

#define KEY "audit-fault-07"
#define FILE_NAME PLACE "/watched"
#define PROGRAM PLACE "/program"

static void copy_self(void)
{
	static char bytes[4 << 20];
	int from = open("/proc/self/exe", O_RDONLY), to = open(PROGRAM, O_WRONLY | O_CREAT, 0700);
	ssize_t size = read(from, bytes, sizeof(bytes));

	need(from < 0 || to < 0 || size <= 0 || write(to, bytes, size) != size, PROGRAM);
	close(from);
	close(to);
}

static int listening_socket(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = AUDIT_NLGRP_READLOG };
	struct timeval limit = { .tv_sec = 1 };
	int fd = audit_socket();

	need(bind(fd, (struct sockaddr *)&address, sizeof(address)), "audit's multicast");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return fd;
}

/* Has the program open the file; returns whether that was recorded. */
static int recorded(int listener)
{
	static char record[9000];
	pid_t child = fork();
	int found = 0;
	ssize_t got;

	if (child == 0) {
		execl(PROGRAM, PROGRAM, "open", NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	while ((got = recv(listener, record, sizeof(record) - 1, 0)) > 0) {
		record[got] = '\0';
		if (((struct nlmsghdr *)record)->nlmsg_type == AUDIT_SYSCALL &&
		    strstr(record + NLMSG_HDRLEN, KEY))
			found = 1;
	}
	return found;
}

int main(int argc, char **argv)
{
	struct rule rule = every_call();
	int listener, first, second;

	if (argc == 2 && !strcmp(argv[1], "open"))
		return open(FILE_NAME, O_RDONLY) < 0;
	begin(argc, argv);
	copy_self();
	create(FILE_NAME);
	text(&rule, AUDIT_WATCH, FILE_NAME);
	text(&rule, AUDIT_EXE, PROGRAM);
	text(&rule, AUDIT_FILTERKEY, KEY);
	add(&rule);
	listener = listening_socket();
	first = recorded(listener);
	create(PLACE "/new");
	need(rename(PLACE "/new", FILE_NAME), "replacing the file");
	second = recorded(listener);
	if (!first)
		end(UNTRIED, "not even the first open was recorded");
	end(second ? FINE : FAULTY, "an open of the file by the program is%s recorded after the"
	    " file was replaced", second ? "" : " not");
}
