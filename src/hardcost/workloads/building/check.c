/*
 * Tells whether what was built works: prints a line for each source, its name and a number that
 * depends on all that its functions did. With an argument, the number is that of standard input.
 */
#include <libfdt.h>
#include <stdio.h>
#include <string.h>

#define SIZE 4096
#define EMPTY_SIZE 72

static char tree[SIZE], bigger[SIZE], overlay[SIZE];
static int failures;

/* FNV-1a. */
static unsigned hash(const void *bytes, int count)
{
	unsigned sum = 2166136261u;
	const unsigned char *at = bytes;

	while (count-- > 0)
		sum = (sum ^ *at++) * 16777619u;
	return sum;
}

static void say(const char *source, unsigned number)
{
	printf("%s %08x\n", source, number);
}

static void expect(int status, const char *what)
{
	if (status < 0) {
		printf("%s failed: %d\n", what, status);
		failures++;
	}
}

#define DO(call) expect(call, #call)

static int standard_input(const char *source)
{
	static char text[1 << 20];

	say(source, hash(text, (int)fread(text, 1, sizeof(text), stdin)));
	return 0;
}

/* The smallest tree there is, by hand. */
static void check_fdt(void)
{
	struct { struct fdt_header header; fdt32_t rest[8]; } empty;
	struct fdt_header *header = &empty.header;
	int next = 0, depth = 0;

	memset(&empty, 0, sizeof(empty));
	header->magic = cpu_to_fdt32(FDT_MAGIC);
	header->totalsize = cpu_to_fdt32(EMPTY_SIZE);
	header->off_mem_rsvmap = cpu_to_fdt32(40);
	header->off_dt_struct = cpu_to_fdt32(56);
	header->size_dt_struct = cpu_to_fdt32(16);
	header->off_dt_strings = cpu_to_fdt32(EMPTY_SIZE);
	header->version = cpu_to_fdt32(17);
	header->last_comp_version = cpu_to_fdt32(16);
	empty.rest[4] = cpu_to_fdt32(FDT_BEGIN_NODE);
	empty.rest[6] = cpu_to_fdt32(FDT_END_NODE);
	empty.rest[7] = cpu_to_fdt32(FDT_END);
	DO(fdt_check_header(&empty));
	say("fdt", fdt_next_tag(&empty, 0, &next) << 16 | next << 8 | fdt_next_node(&empty, 0, &depth));
}

#if FILES >= 2
static void check_fdt_strerror(void)
{
	unsigned sum = 0;
	int code;

	for (code = 0; code < 20; code++)
		sum = sum * 31 + hash(fdt_strerror(-code), strlen(fdt_strerror(-code)));
	say("fdt_strerror", sum);
}
#endif

#if FILES >= 3
static void check_fdt_sw(void)
{
	char name[16];
	int i;

	DO(fdt_create(tree, SIZE));
	DO(fdt_finish_reservemap(tree));
	DO(fdt_begin_node(tree, ""));
	DO(fdt_property_u32(tree, "#address-cells", 2));
	DO(fdt_property_u32(tree, "#size-cells", 1));
	DO(fdt_begin_node(tree, "soc"));
	for (i = 0; i < 10; i++) {
		sprintf(name, "uart@%d", i);
		DO(fdt_begin_node(tree, name));
		DO(fdt_property_string(tree, "compatible", "ns16550"));
		DO(fdt_property_u32(tree, "phandle", i + 1));
		DO(fdt_end_node(tree));
	}
	DO(fdt_end_node(tree));
	DO(fdt_end_node(tree));
	DO(fdt_finish(tree));
	say("fdt_sw", hash(tree, fdt_totalsize(tree)));
}
#endif

#if FILES >= 4
static void check_fdt_ro(void)
{
	char path[64];
	int length, node = fdt_path_offset(tree, "/soc/uart@7");
	const char *compatible = fdt_getprop(tree, node, "compatible", &length);

	DO(node);
	DO(fdt_get_path(tree, fdt_node_offset_by_phandle(tree, 5), path, sizeof(path)));
	say("fdt_ro", hash(compatible, length) ^ hash(path, strlen(path)) ^ node);
}
#endif

#if FILES >= 5
static void check_fdt_wip(void)
{
	DO(fdt_setprop_inplace_u32(tree, fdt_path_offset(tree, "/soc/uart@3"), "phandle", 99));
	DO(fdt_nop_node(tree, fdt_path_offset(tree, "/soc/uart@4")));
	say("fdt_wip", hash(tree, fdt_totalsize(tree)));
}
#endif

#if FILES >= 6
static void check_fdt_rw(void)
{
	int node;

	DO(fdt_open_into(tree, bigger, SIZE));
	node = fdt_add_subnode(bigger, fdt_path_offset(bigger, "/soc"), "timer");
	DO(node);
	DO(fdt_setprop_u32(bigger, node, "interval", 7));
	DO(fdt_del_node(bigger, fdt_path_offset(bigger, "/soc/uart@5")));
	DO(fdt_pack(bigger));
	say("fdt_rw", hash(bigger, fdt_totalsize(bigger)));
}
#endif

#if FILES >= 7
static void check_fdt_empty_tree(void)
{
	DO(fdt_create_empty_tree(overlay, 256));
	say("fdt_empty_tree", hash(overlay, 256));
}
#endif

#if FILES >= 8
static void check_fdt_addresses(void)
{
	int node;

	DO(fdt_open_into(tree, bigger, SIZE));
	node = fdt_path_offset(bigger, "/soc");
	DO(fdt_appendprop_addrrange(bigger, 0, node, "reg", 0x123456789ull, 0x1000));
	say("fdt_addresses", fdt_address_cells(bigger, 0) ^ hash(bigger, fdt_totalsize(bigger)));
}
#endif

#if FILES >= 9
static void check_fdt_overlay(void)
{
	memset(overlay, 0, SIZE);
	DO(fdt_create(overlay, SIZE));
	DO(fdt_finish_reservemap(overlay));
	DO(fdt_begin_node(overlay, ""));
	DO(fdt_begin_node(overlay, "fragment@0"));
	DO(fdt_property_string(overlay, "target-path", "/soc/uart@1"));
	DO(fdt_begin_node(overlay, "__overlay__"));
	DO(fdt_property_string(overlay, "status", "okay"));
	DO(fdt_end_node(overlay));
	DO(fdt_end_node(overlay));
	DO(fdt_end_node(overlay));
	DO(fdt_finish(overlay));
	DO(fdt_overlay_apply(bigger, overlay));
	say("fdt_overlay", hash(bigger, fdt_totalsize(bigger)));
}
#endif

int main(int count, char **arguments)
{
	if (count > 1)
		return standard_input(arguments[1]);
	check_fdt();
#if FILES >= 2
	check_fdt_strerror();
#endif
#if FILES >= 3
	check_fdt_sw();
#endif
#if FILES >= 4
	check_fdt_ro();
#endif
#if FILES >= 5
	check_fdt_wip();
#endif
#if FILES >= 6
	check_fdt_rw();
#endif
#if FILES >= 7
	check_fdt_empty_tree();
#endif
#if FILES >= 8
	check_fdt_addresses();
#endif
#if FILES >= 9
	check_fdt_overlay();
#endif
	return failures != 0;
}
