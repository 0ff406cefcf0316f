/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the reproducers share: audit rules over netlink, renewing rules with LSM fields, and
 * reading what the kernel's own checkers say. No library is needed.
 *
 * Run as process 1 of a guest, a reproducer mounts what it needs, loads the policy /policy into
 * SELinux if there is one, and reboots at its end. Otherwise it uses the system as it is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLACE "/audit-fault"	/* made at the start, and left behind */

enum verdict { FINE = 0, FAULTY = 1, UNTRIED = 2 };

struct rule {
	struct audit_rule_data data;
	char strings[1024];
};

static const char *lsm_type = "unconfined_t";	/* -t TYPE: a type of the policy that is loaded */
static int sock = -1;
static int messages = -1;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Ends the reproducer with a verdict, and the guest with it. */
static void end(enum verdict verdict, const char *form, ...)
{
	static const char *const words[] = { "no fault seen", "FAULT", "not tried" };
	va_list arguments;

	printf("%s: ", words[verdict]);
	va_start(arguments, form);
	vprintf(form, arguments);
	va_end(arguments);
	printf("\n");
	fflush(stdout);
	if (getpid() == 1) {
		sync();
		reboot(RB_AUTOBOOT);
	}
	_exit(verdict);
}

static void need(int failed, const char *what)
{
	if (failed)
		end(UNTRIED, "%s: %s", what, strerror(errno));
}

/* Sends a request; returns 0 or a negative errno. */
static int ask(int fd, int type, const void *payload, size_t size)
{
	static unsigned int number;
	char buffer[9000] __attribute__((aligned(8))) = {};
	struct nlmsghdr *head = (struct nlmsghdr *)buffer;
	ssize_t got;

	head->nlmsg_len = NLMSG_SPACE(size);
	head->nlmsg_type = type;
	head->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	head->nlmsg_seq = __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
	memcpy(NLMSG_DATA(head), payload, size);
	if (send(fd, buffer, head->nlmsg_len, 0) < 0)
		return -errno;
	do {
		got = recv(fd, buffer, sizeof(buffer), 0);
	} while (got > 0 && head->nlmsg_type != NLMSG_ERROR);
	return got > 0 ? ((struct nlmsgerr *)NLMSG_DATA(head))->error : -errno;
}

static int audit_socket(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);

	need(fd < 0, "audit's socket");
	return fd;
}

/* A rule of the exit filter that records all calls. */
static struct rule every_call(void)
{
	struct rule rule = {
		.data = { .flags = AUDIT_FILTER_EXIT, .action = AUDIT_ALWAYS },
	};

	memset(rule.data.mask, 0xff, sizeof(rule.data.mask));
	return rule;
}

static void number(struct rule *rule, int field, unsigned int value)
{
	int at = rule->data.field_count++;

	rule->data.fields[at] = field;
	rule->data.fieldflags[at] = AUDIT_EQUAL;
	rule->data.values[at] = value;
}

static inline void text(struct rule *rule, int field, const char *value)
{
	number(rule, field, strlen(value));
	memcpy((char *)&rule->data + sizeof(rule->data) + rule->data.buflen, value, strlen(value));
	rule->data.buflen += strlen(value);
}

static inline int change(int fd, int type, const struct rule *rule)
{
	return ask(fd, type, rule, sizeof(rule->data) + rule->data.buflen);
}

static inline void add(const struct rule *rule)
{
	errno = -change(sock, AUDIT_ADD_RULE, rule);
	need(errno, "adding a rule");
}

static void write_file(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	need(fd < 0 || write(fd, value, strlen(value)) < 0, path);
	close(fd);
}

static inline void create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);

	need(fd < 0, path);
	close(fd);
}

/* Renews all rules with LSM fields, as loading a policy does: "setenforce 1; setenforce 0". */
static inline void renew_rules(void)
{
	write_file("/sys/fs/selinux/enforce", "1");
	write_file("/sys/fs/selinux/enforce", "0");
}

static void load_policy(void)
{
	static char policy[1 << 20];
	int from = open("/policy", O_RDONLY), to = open("/sys/fs/selinux/load", O_WRONLY);
	ssize_t size;

	if (from < 0 || to < 0)
		return;
	size = read(from, policy, sizeof(policy));
	need(size < 0 || write(to, policy, size) != size, "loading /policy");
}

static inline void need_selinux(void)
{
	if (access("/sys/fs/selinux/enforce", W_OK))
		end(UNTRIED, "SELinux is not there: boot with security=selinux selinux=1 enforcing=0");
}

/* Makes everything ready; from here on the kernel's messages are looked at. */
static void begin(int argc, char **argv)
{
	struct audit_status status = { .mask = AUDIT_STATUS_ENABLED, .enabled = 1 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (getpid() == 1) {
		mount("none", "/dev", "devtmpfs", 0, NULL);
		mount("none", "/proc", "proc", 0, NULL);
		mount("none", "/sys", "sysfs", 0, NULL);
		mount("none", "/sys/fs/selinux", "selinuxfs", 0, NULL);
		load_policy();
		lsm_type = "base_t";
	} else if (argc == 3 && !strcmp(argv[1], "-t")) {
		lsm_type = argv[2];
	}
	need(geteuid() != 0 && (errno = EPERM), "this needs root");
	need(mkdir(PLACE, 0700) && errno != EEXIST, PLACE);
	need(mount("none", PLACE, "tmpfs", 0, NULL), "mounting on " PLACE);
	sock = audit_socket();
	errno = -ask(sock, AUDIT_SET, &status, sizeof(status));
	need(errno, "switching audit on");
	messages = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	need(messages < 0, "/dev/kmsg");
	lseek(messages, 0, SEEK_END);
}

/* Returns the first line since begin() by which the kernel reports a fault, or NULL. */
static const char *reported(void)
{
	static const char *const words[] = { "KASAN:", "BUG:", "Oops", "WARNING:", "corruption",
					     "blocked for more than", "refcount_t:" };
	static char line[8192];
	ssize_t got;

	while ((got = read(messages, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		line[got > 0 ? got : 0] = '\0';
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
			char *text = strchr(line, ';');

			if (text && strstr(text, words[i])) {
				text[strcspn(text, "\n")] = '\0';
				return text + 1;
			}
		}
	}
	return NULL;
}

/* Waits for a report, at most so long. */
static inline const char *reported_within(double seconds)
{
	double until = now() + seconds;
	const char *line;

	while (!(line = reported()) && now() < until)
		usleep(100000);
	return line;
}

/* Ends by what the kernel reports within some seconds. */
static inline void end_by_report(double seconds, const char *without)
{
	const char *line = reported_within(seconds);

	if (line)
		end(FAULTY, "%s", line);
	end(FINE, "%s", without);
}
