/*
 * Runs in a guest, as root: the cost of changing audit rules, and the contents of kernel slabs.
 *
 *   rules          deletes the loaded rules and adds them again, one by one, forward and backward;
 *                  prints the nanoseconds of processor time for each request (one nanosecond is one
 *                  instruction), the time of all requests including idle time, and the kernel's
 *                  later work for them
 *   slabs          makes all slabs release free memory, then prints /proc/slabinfo and more
 *
 * Requests run under SCHED_FIFO, so that no other process's work is counted; deferred work (RCU's
 * callbacks) is measured by the slowdown of a loop afterwards.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { MOST = 1024, LONGEST = 8970, SPIN_TICKS = 40 * 1000 * 1000, STEP = 1000 };

static struct rule {
	uint32_t size;
	void *data;
} rules[MOST];
static int count;
static int audit;
static uint32_t sequence;
static uint64_t nothing; /* the cost of reading the clock twice */

static struct message {
	struct nlmsghdr header;
	char data[LONGEST];
} message;

static void nap(long milliseconds)
{
	nanosleep(&(struct timespec){ milliseconds / 1000, milliseconds % 1000 * 1000000 }, NULL);
}

static void schedule(int policy, int priority)
{
	if (sched_setscheduler(0, policy, &(struct sched_param){ priority }))
		err(1, "sched_setscheduler");
}

/* The processor time of this thread: unlike the time-stamp counter it stops while we wait. */
static uint64_t used(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

/* Sends a request; returns the instructions of the system call, which does all of its work. */
static uint64_t ask(int type, const void *data, uint32_t size, int flags)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	uint64_t start, end;

	message.header = (struct nlmsghdr){ NLMSG_SPACE(size), type, NLM_F_REQUEST | flags, ++sequence, 0 };
	memcpy(message.data, data, size);
	start = used();
	ssize_t sent = sendto(audit, &message, message.header.nlmsg_len, 0,
			      (struct sockaddr *)&kernel, sizeof(kernel));
	end = used();
	if (sent < 0)
		err(1, "sendto");
	return end - start - nothing;
}

static void hear(void)
{
	if (recv(audit, &message, sizeof(message), 0) < 0)
		err(1, "recv");
}

static uint64_t change(int type, const struct rule *rule)
{
	uint64_t took = ask(type, rule->data, rule->size, NLM_F_ACK);

	hear();
	struct nlmsgerr *answer = (struct nlmsgerr *)message.data;
	if (message.header.nlmsg_type != NLMSG_ERROR || answer->error)
		errx(1, "the kernel refuses: %s", strerror(-answer->error));
	return took;
}

static void list(void)
{
	ask(AUDIT_LIST_RULES, "", 0, 0);
	for (hear(); message.header.nlmsg_type != NLMSG_DONE; hear()) {
		if (message.header.nlmsg_type != AUDIT_LIST_RULES)
			continue;
		uint32_t size = message.header.nlmsg_len - NLMSG_HDRLEN;

		if (count == MOST)
			errx(1, "too many rules");
		rules[count] = (struct rule){ size, malloc(size) };
		memcpy(rules[count++].data, message.data, size);
	}
}

/* The number of iterations of a loop in so many ticks, besides any other work. */
static uint64_t spin(void)
{
	volatile int last;
	uint64_t rounds = 0, end = __rdtsc() + SPIN_TICKS;

	for (; __rdtsc() < end; rounds++)
		for (int i = 0; i < STEP; i++)
			last = i;
	(void)last;
	return rounds;
}

static uint64_t took[MOST];

/* Changes all rules, forward or backward; prints the cost of each and all, and of later work. */
static void phase(const char *name, int type, int backward, uint64_t quiet)
{
	schedule(SCHED_FIFO, 1);
	uint64_t start = __rdtsc();

	for (int i = 0; i < count; i++)
		took[i] = change(type, &rules[backward ? count - 1 - i : i]);
	uint64_t whole = __rdtsc() - start;

	schedule(SCHED_OTHER, 0);
	double later = ((double)quiet - (double)spin()) * SPIN_TICKS / quiet;

	printf("%s %llu %.0f", name, (unsigned long long)whole, later);
	for (int i = 0; i < count; i++)
		printf(" %llu", (unsigned long long)took[i]);
	printf("\n");
	fflush(stdout);
	nap(300);
}

static void measure(void)
{
	audit = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
	if (audit < 0)
		err(1, "socket");
	list();
	nap(300);
	spin();
	uint64_t quiet = spin();

	nothing = ~0ull;
	for (int i = 0; i < 9; i++) {
		uint64_t start = used(), length = used() - start;

		nothing = length < nothing ? length : nothing;
	}
	phase("delete-first", AUDIT_DEL_RULE, 0, quiet);
	phase("add", AUDIT_ADD_RULE, 0, quiet);
	phase("delete-last", AUDIT_DEL_RULE, 1, quiet);
}

static void print_file(const char *path)
{
	char text[1 << 16];
	ssize_t got;
	int file = open(path, O_RDONLY);

	printf("== %s\n", path);
	fflush(stdout);
	if (file < 0)
		return;
	while ((got = read(file, text, sizeof(text))) > 0)
		if (write(1, text, got) != got)
			err(1, "write");
	close(file);
}

static void shrink(void)
{
	DIR *caches = opendir("/sys/kernel/slab");
	struct dirent *entry;

	if (!caches)
		err(1, "/sys/kernel/slab");
	while ((entry = readdir(caches))) {
		char path[512];

		if (entry->d_type == DT_LNK || entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/kernel/slab/%s/shrink", entry->d_name);
		int file = open(path, O_WRONLY);

		if (file < 0)
			continue;
		if (write(file, "1", 1) != 1)
			err(1, "%s", path);
		close(file);
	}
	closedir(caches);
}

static void slabs(void)
{
	nap(500);
	shrink();
	nap(100);
	shrink();
	print_file("/proc/sys/vm/stat_refresh"); /* adds up the processors' parts */
	print_file("/proc/slabinfo");
	print_file("/proc/vmstat");
	print_file("/proc/vmallocinfo");
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "rules"))
		measure();
	else if (argc == 2 && !strcmp(argv[1], "slabs"))
		slabs();
	else
		errx(2, "usage: %s rules|slabs", argv[0]);
	return 0;
}
