/* Process 1 of bench/accuracy/arm64.py's guest, without a C library: what calls cost, by the guest's clock. */

typedef unsigned long u64;

enum { CALLS = 10, WINDOWS = 25 };
enum { OPENAT = 56, CLOSE = 57, WRITE = 64, REBOOT = 142, GETPPID = 173, SYNC = 81 };

static long call(long number, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}

static u64 ticks(void)
{
	u64 now;

	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(now));
	return now;
}

static u64 frequency(void)
{
	u64 hertz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
	return hertz;
}

static void say(const char *text)
{
	long length = 0;

	while (text[length])
		length++;
	call(WRITE, 1, (long)text, length, 0);
}

static void say_number(u64 number)
{
	char digits[24];
	int at = sizeof(digits) - 1;

	digits[at] = 0;
	do {
		digits[--at] = '0' + number % 10;
		number /= 10;
	} while (number);
	say(digits + at);
}

static void null(void)
{
	call(GETPPID, 0, 0, 0, 0);
}

static void open(void)
{
	long file = call(OPENAT, -100, (long)"/init", 0, 0);

	if (file < 0)
		say("hardcost: open failed\n");
	call(CLOSE, file, 0, 0, 0);
}

/* The shortest of some windows, in ticks: no timer interrupt falls into it. */
static void measure(const char *name, void (*one)(void))
{
	u64 least = -1UL;

	for (int window = 0; window < WINDOWS; window++) {
		u64 begin = ticks();

		for (int n = 0; n < CALLS; n++)
			one();
		begin = ticks() - begin;
		if (begin < least)
			least = begin;
	}
	say("hardcost: ");
	say(name);
	say(" ");
	say_number(least);
	say("\n");
}

void _start(void)
{
	say("hardcost: hertz ");
	say_number(frequency());
	say("\n");
	measure("null", null);
	measure("open", open);
	say("hardcost: end\n");
	call(SYNC, 0, 0, 0, 0);
	call(REBOOT, 0xfee1dead, 672274793, 0x4321fedc, 0);
}
