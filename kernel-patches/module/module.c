// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bridge's FDB lookup kfuncs as a module of their own, for kernels without the patches.
 *
 * The module knows the bridge's structures from the BTF of the kernel it was built for, and refuses any
 * other: the loader compares the checksum of br_forward()'s type, and br_fdb_kfunc_init() the whole BTF.
 */
#include <linux/crc32.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/module.h>

#include "br_private.h"

/* Keeps the bridge loaded, too. */
static void *const needed_symbol __used = br_forward;

static int __init prove(const char *path, u32 size, u32 crc)
{
	struct file *file = filp_open(path, O_RDONLY, 0);
	ssize_t length = 0, got;
	u32 sum = ~0;
	loff_t at = 0;
	void *page;

	if (IS_ERR(file)) {
		pr_err("br_fdb_kfunc: cannot open %s: %ld\n", path, PTR_ERR(file));
		return PTR_ERR(file);
	}
	page = (void *)__get_free_page(GFP_KERNEL);
	while (page && (got = kernel_read(file, page, PAGE_SIZE, &at)) > 0) {
		sum = crc32_le(sum, page, got);
		length += got;
	}
	free_page((unsigned long)page);
	filp_close(file, NULL);

	if (length != size || ~sum != crc) {
		pr_err("br_fdb_kfunc: built for another kernel, %s differs\n", path);
		return -ENOEXEC;
	}
	return 0;
}

static int __init br_fdb_kfunc_init(void)
{
	return prove("/sys/kernel/btf/vmlinux", VMLINUX_BTF_SIZE, VMLINUX_BTF_CRC32) ?:
		       prove("/sys/kernel/btf/bridge", BRIDGE_BTF_SIZE, BRIDGE_BTF_CRC32) ?:
		       br_bpf_init();
}

static void __exit br_fdb_kfunc_exit(void)
{
}

module_init(br_fdb_kfunc_init);
module_exit(br_fdb_kfunc_exit);
MODULE_DESCRIPTION("Lookups in the bridge's forwarding database for BPF programs");
MODULE_LICENSE("GPL");
