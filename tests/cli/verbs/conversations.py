"""What the tests say to the command line, and the files that they name."""

from __future__ import annotations

import json
from collections.abc import Mapping

RULES = """\
-w /etc/passwd -p wa -k identity
-a always,exit -F arch=b64 -S open -F success=0 -k denied
-a always,exit -F arch=b64 -S chmod,fchmod -k modes
-a always,exit -F arch=b64 -S mount -k mounts
"""
STUDY = """\
title = "Three settings"
workloads = ["syscalls calls=null+open"]
baseline = "none"
[[configuration]]
name = "none"
[[configuration]]
name = "zeroed"
boot = ["init_on_alloc=1"]
[[configuration]]
name = "stacks"
sysctl = { "kernel.randomize_va_space" = "2" }
"""
BROKEN = """\
title = "Some fail"
workloads = ["syscalls calls=null"]
baseline = "none"
[[configuration]]
name = "none"
[[configuration]]
name = "dies"
boot = ["fake=fail"]
[[configuration]]
name = "hangs"
boot = ["fake=hang"]
[[configuration]]
name = "no boot"
boot = ["fake=unbootable"]
[[configuration]]
name = "odd"
boot = ["nosuch=1"]
"""
INTERRUPTED = """\
title = "A user presses Ctrl-C"
workloads = ["syscalls calls=null"]
baseline = "none"
[[configuration]]
name = "none"
[[configuration]]
name = "then"
boot = ["fake=interrupt"]
"""
PERTURBED = """\
title = "What moves is measured under perturbations"
workloads = ["syscalls calls=null+fork"]
baseline = "none"
[[configuration]]
name = "none"
[[configuration]]
name = "zeroed"
boot = ["init_on_alloc=1"]
[[configuration]]
name = "overcommitted"
sysctl = { "vm.overcommit_memory" = "2" }
"""
ALIKE = """\
-a always,exit -F arch=b64 -S chmod -F auid>=1000 -F auid!=unset -k modes
-a always,exit -F arch=b64 -S fchmod -F auid>=1000 -F auid!=unset -k modes
-a always,exit -F arch=b64 -S mount -F auid>=1000 -F auid!=unset -k mounts
"""
KERNELS = """\
title = "Two options"
kernel = "lean"
kconfig = ["SLUB_DEBUG_ON=y", "INIT_STACK_ALL_ZERO=y"]
"""
BOOT = {
    "id": "boot-parameter:init_on_free=1",
    "kind": "boot parameter",
    "name": "init_on_free=1",
    "place": "/etc/default/grub:1",
    "share": 0.06,
    "known": "measured",
}
SYSCTL = {
    "id": "sysctl:kernel.randomize_va_space=2",
    "kind": "sysctl",
    "name": "kernel.randomize_va_space=2",
    "place": "/etc/sysctl.d/a.conf:1",
    "share": 0.05,
    "known": "measured",
}
RULE = {
    "id": "audit-rule:-w /etc/passwd -p wa -k identity",
    "kind": "audit rule",
    "name": "-w /etc/passwd -p wa -k identity",
    "place": "/etc/audit/rules.d/a.rules:1",
    "share": 0.02,
    "known": "predicted",
}
UNPRICED = {
    "id": "sysctl:net.core.somaxconn=4096",
    "kind": "sysctl",
    "name": "net.core.somaxconn=4096",
    "share": None,
    "why": "no list has one for it yet",
}


def answer(share: float, *items: Mapping[str, object]) -> str:
    """Return what `hardcost here --format json` would have printed."""
    rules = {"first_rule": 0.1} if RULE in items else {}
    found = {"kind": "here", "machine": "web", "words": "", "kernel": "6.1", "priced_on": "6.1"}
    found |= {"predicted_on": "6.1", "mix": "an assumed mix of calls", "mix_by": "assumed"}
    mix = {"covered": 0.5, "share": share, "calls": []}
    return json.dumps({**found, **mix, **rules, "items": items})


ACCEPTED = """\
[[accept]]
id = "security-module:SELinux, enforcing"
reason = "asked for by the *policy*"
[[accept]]
id = "audit-rule:-w /etc/passwd -p wa -k identity"
reason = "who has an account is recorded"
[[accept]]
id = "boot-parameter:init_on_free=1"
reason = "for this year"
until = 2020-12-31
[[accept]]
id = "sysctl:kernel.kptr_restrict=1"
reason = "no file sets it so"
"""
FAULTY = """\
-a always,exit -F arch=b64 -S open -k opened
-a always,exit -F arch=b64 -S open -k opened
-a always,exit -S nosuch -k never
"""
MISSPELT = """\
# repeated, misspelt, in a costly order, and not certain
-a always,exit -F arch=b64 -S open -k opened
-a always,exit -F arch=b64 -S open -k opened
-a always,exit -F arch=b33 -S fchmdo -k modes
-a always,exit -F arch=b64 -S openat -F exe=/usr/bin/vim -F exit=-EACCES -k denied
-a always,exit -F arch=b64 -S dup4 -k dup
"""
EXPENSIVE = """\
-a always,exit -F arch=b64 -S chmod -F auid>=1000 -F auid!=unset -k modes
-a always,exit -F arch=b64 -S fchmod -F auid>=1000 -F auid!=unset -k modes
"""
KHC = """\
[
  ["CONFIG_KEXEC", "kconfig", "is not set", "kspp", "cut_attack_surface", "FAIL: \\"y\\""],
  ["nokaslr", "cmdline", "is not set", "defconfig", "self_protection", "FAIL: \\"\\""],
  ["kernel.kptr_restrict", "sysctl", "2", "kspp", "cut_attack_surface", "FAIL: \\"0\\""]
]
"""
SCAP = """\
<?xml version="1.0"?>
<x:Benchmark xmlns:x="http://checklists.nist.gov/xccdf/1.2">
  <x:Profile id="xccdf_org.example_profile_p"><x:title>The p</x:title></x:Profile>
  <x:Rule id="a"><x:fix system="urn:xccdf:fix:script:sh">
cat &lt;&lt; EOF &gt; /etc/audit/rules.d/x.rules
-w /etc/passwd -p wa -k id
-b 99
EOF
  </x:fix></x:Rule>
  <x:Rule id="b"><x:description>-w /y in /etc/audit/rules.d/x.rules</x:description></x:Rule>
</x:Benchmark>
"""
SYSCTLS = """\
kernel.kptr_restrict = 2
-net.ipv4.conf.all.rp_filter = 1
"""
CONFIG = """\
CONFIG_INIT_ON_ALLOC_DEFAULT_ON=y
# CONFIG_AUDIT is not set
"""
TAILORING = """<Tailoring xmlns="http://checklists.nist.gov/xccdf/1.2" id="t">
  <Profile id="xccdf_org.example_profile_ours" extends="xccdf_org.example_profile_p">
    <select idref="no_such_rule" selected="false"/>
  </Profile>
</Tailoring>
"""
DECISION = """title = "what is kept"
sysctl = { "kernel.kptr_restrict" = 2 }
[[given_up]]
control = "-w /etc/passwd -p wa -k id"
ids = ["a"]
severity = "medium"
metric = "chmod"
cost = 117.0
low = 115.5
high = 118.0
unit = "insn/op"
baseline = 1000.0
conditions = "bill of p on syscalls calls=chmod"
reason = "=too dear"
[[given_up]]
control = "kernel.x=1"
"""
EIGHT = """\
kernel.randomize_va_space = 2
kernel.kptr_restrict = 2
kernel.dmesg_restrict = 1
kernel.sysrq = 0
kernel.yama.ptrace_scope = 1
net.ipv4.tcp_syncookies = 1
fs.protected_symlinks = 1
vm.overcommit_memory = 2
"""
FILES = {
    "my.rules": RULES,
    "few.rules": "".join(RULES.splitlines(keepends=True)[:2]),
    "alike.rules": ALIKE,
    "counts.json": '{"chmod": 1, "getppid": 3}',
    "worth.toml": '"*modes" = 5\n',
    "wrong.toml": '"*modes" = -5\nnosuch = 1\n',
    "study.toml": STUDY,
    "broken.toml": BROKEN,
    "interrupted.toml": INTERRUPTED,
    "perturbed.toml": PERTURBED,
    "kernels.toml": KERNELS,
    "faulty.rules": FAULTY,
    "expensive.rules": EXPENSIVE,
    "misspelt.rules": MISSPELT,
    "mixed.toml": 'boot = ["quiet"]\nsysctl = { "kernel.kptr_restrict" = 2 }\n',
    "khc.json": KHC,
    "ds.xml": SCAP,
    "tailoring.xml": TAILORING,
    "decision.toml": DECISION,
    "99-x.conf": SYSCTLS,
    "eight.conf": EIGHT,
    "98-pattern.conf": "net.*.odd = 1\n",
    "config": CONFIG,
    "root/etc/audit/rules.d/a.rules": RULES,
    "root/etc/sysctl.d/a.conf": "kernel.kptr_restrict = 2\nnet.core.somaxconn = 4096\nfaulty\n",
    "root/etc/default/grub": 'GRUB_CMDLINE_LINUX="quiet init_on_free=1"\n',
    "root/etc/selinux/config": "SELINUX=enforcing\n",
    "root/etc/fstab": "/dev/b /tmp ext4 noexec 0 0\n",
    "accepted.toml": ACCEPTED,
    "before.json": answer(0.2, BOOT, SYSCTL | {"by_default": True}, RULE),
    "after.json": answer(0.13, BOOT | {"share": 0.08}, SYSCTL, UNPRICED),
}
ON = "--machine fake --jobs 1"
CALLS = f"{ON} --workload 'syscalls calls=null+chmod'"
RUNNING = "--machine fakehost --workload 'syscalls calls=null+chmod'"

CONVERSATIONS = {
    "run": (
        f"run study.toml {ON} --dry-run",
        f"run study.toml {ON} --dry-run --format json",
        f"run study.toml {ON}",
        f"run study.toml {ON} --seeds 2 --format json",
        f"run study.toml {ON} --resume",
        f"run study.toml {ON} --fresh --progress none",
        "list runs",
    ),
    "run-perturbed": (
        f"run perturbed.toml {ON} --dry-run",
        f"run perturbed.toml {ON}",
        f"run perturbed.toml {ON} --repetitions 2 --format json",
        f"bill my.rules {ON} --workload 'syscalls calls=null+creat'",
    ),
    "run-failures": (
        f"run broken.toml {ON}",
        f"run broken.toml {ON} --format json --progress json",
        "report last",
    ),
    "run-interrupted": (
        f"run interrupted.toml {ON}",
        "list runs",
        f"run interrupted.toml {ON} --resume --progress json",
        "report last",
    ),
    "bill-single": (
        f"bill my.rules {CALLS} --dry-run",
        f"bill my.rules {CALLS}",
        f"bill my.rules {CALLS} --format json --fresh",
        f"bill my.rules {CALLS} --all",
        f"bill my.rules {CALLS} --call chmod",
        f"bill my.rules {CALLS} --call open",
        f"bill --sysctl vm.overcommit_memory=2 --boot init_on_alloc=1 {CALLS}",
    ),
    "bill-verified": (
        f"bill eight.conf {CALLS} --dry-run",
        f"bill eight.conf {CALLS}",
        f"bill eight.conf {CALLS} --all",
        f"bill eight.conf {CALLS} --method single",
        f"bill eight.conf {CALLS} --format json",
        "report last --format csv",
        f"bill few.rules {RUNNING} --method verify",
        f"bill few.rules {CALLS} --method verify --budget 5%",
        f"bill few.rules {ON} --workload filecopy --method verify",
    ),
    "bill-running": (
        f"bill few.rules {RUNNING} --dry-run",
        f"bill few.rules {RUNNING} --precision 0.5%",
        f"bill --sysctl vm.overcommit_memory=2 {RUNNING} --repetitions 4 --format json",
        f"bill few.rules my.rules {RUNNING} --precision 1%",
        f"bill few.rules {RUNNING} --method search --precision 1%",
        f"bill few.rules {CALLS} --precision 1%",
        f"bill --boot init_on_alloc=1 {RUNNING}",
    ),
    "bill-scap": (
        f"bill ds.xml --scap-profile p {CALLS}",
        f"bill ds.xml --scap-profile p {CALLS} --format json",
        f"bill ds.xml --scap-profile ours --tailoring tailoring.xml {CALLS} --dry-run",
        f"bill ds.xml --scap-profile p --tailoring my.rules {CALLS}",
        f"bill my.rules --tailoring tailoring.xml {CALLS}",
    ),
    "export-decision": (
        "export waivers decision.toml -o -",
        "export waivers decision.toml -o - --format markdown",
        "export waivers decision.toml -o waivers.txt",
        "export waivers misspelt.rules -o -",
        "export waivers mixed.toml -o -",
        "export tailoring ds.xml decision.toml --scap-profile p -o t.xml",
        "export tailoring ds.xml decision.toml --scap-profile p -o t.xml",
        "export tailoring ds.xml decision.toml --scap-profile nosuch -o t.xml",
    ),
    "schema": (
        "schema compare",
        "schema restore",
        "schema nosuch",
    ),
    "advise": (
        f"advise alike.rules {CALLS} --budget 'chmod<=100%,20%' --dry-run",
        f"advise my.rules {CALLS} --budget 'chmod<=100%,20%' --no-equivalents -o decision.toml",
        f"bill decision.toml {CALLS} --progress none --format csv",
        (
            f"advise my.rules {CALLS} --budget 'mix<=100%' --histogram counts.json"
            " --weights worth.toml --progress none --format json"
        ),
        f"advise alike.rules {CALLS} --budget 'null<=12%' --progress none",
        f"advise alike.rules {CALLS} --budget 300% --progress none",
        f"advise few.rules {CALLS} --progress none",
        f"advise few.rules {CALLS} --budget 1% -o nothing.toml --progress none",
        f"advise my.rules {CALLS} --budget 'nul<=1%'",
        f"advise my.rules {CALLS} --budget 'null<=1%' --weights wrong.toml",
        f"advise my.rules few.rules {CALLS} --budget 1%",
        f"advise my.rules {CALLS} --budget 1% -o decision.txt",
    ),
    "bill-budget": (f"bill my.rules {CALLS} --budget 'chmod<=100%,20%'",),
    "bill-search": (
        f"bill my.rules {CALLS} --method search --dry-run",
        f"bill my.rules {CALLS} --method search",
        f"bill kernels.toml {CALLS} --format json --most 5",
    ),
    "bill-several": (f"bill my.rules few.rules {CALLS} --budget 20%",),
    "bill-failures": (
        f"bill --boot fake=slow --boot init_on_alloc=1 {CALLS} --timeout 50",
        f"bill --boot fake=slow --boot init_on_alloc=1 {CALLS} --resume",
        f"bill --boot fake=unbootable {CALLS}",
        f"bill --boot nosuch=1 {CALLS}",
        f"bill --sysctl kernel.nosuch=1 {CALLS} --progress json",
        f"bill --boot fake=interrupt {CALLS}",
    ),
    "hotspots": (
        f"hotspots few.rules {CALLS} --dry-run",
        f"hotspots few.rules {CALLS}",
        f"hotspots few.rules {CALLS} --metric chmod --format json --progress none",
        f"hotspots few.rules {CALLS} --format folded-diff --progress none",
        "report last --format json",
        f"hotspots few.rules {CALLS} --metric nosuch --progress none",
        f"profile few.rules {CALLS} --metric null --format folded --progress none",
        "hotspots few.rules --workload filecopy",
        "hotspots few.rules --instrument time",
        "hotspots",
    ),
    "compare": (
        f"run study.toml {ON} --progress none",
        f"bill few.rules {CALLS} --budget 1000% --progress none",
        f"run study.toml {ON} --workload 'syscalls calls=null' --progress none",
        "compare study last",
        "compare bill last",
        "compare bill last --format json",
        "report bill --format json",
        "report study",
        "report nothing",
        "compare before.json after.json",
        "compare before.json after.json --format json",
        "compare before.json after.json --format markdown",
        "compare before.json after.json --format csv",
        "compare before.json last",
        "compare before.json counts.json",
    ),
    "export": (
        f"bill few.rules {CALLS} --progress none",
        "export runs -o runs.csv",
        "export runs -o runs.xyz",
        "export runs -o missing/runs.md",
        "report last --format csv",
        "report last --format markdown",
    ),
    "trace": (
        f"trace my.rules {ON} --call chmod --dry-run",
        f"trace my.rules {ON} --call chmod",
        f"trace few.rules {ON} --call stat --all --progress none",
        f"trace my.rules {ON} --call chmod --format json --progress none",
        f"trace my.rules {ON} --call chmod --format perfetto --progress none",
        "trace few.rules --call nosuch",
        "trace few.rules",
        "trace few.rules --call chmod --workload filecopy",
        "trace few.rules --call chmod --instrument time",
        "trace few.rules --call chmod --processors 2",
        "trace few.rules --call chmod --seeds 2",
        "trace few.rules --workload syscalls",
    ),
    "export-profiles": (
        "export augenrules my.rules -o rules.d",
        "export augenrules my.rules -o rules.d",
        "import audit rules.d -o -",
        "export sysctl 99-x.conf -o 90.conf",
        "export sysctl my.rules -o 91.conf",
        "export cmdline study.toml -o -",
        "export cmdline mixed.toml -o 50.toml",
        "export cmdline mixed.toml -o 50.toml",
        "export kconfig kernels.toml -o -",
        "export ansible mixed.toml -o hardened",
        "export ansible mixed.toml -o hardened",
        "export ansible mixed.toml -o not-a-role",
        "export ansible kernels.toml -o kernels",
        "export bpftrace my.rules -o counting",
        "export bpftrace mixed.toml -o none",
        "export workflow gitlab -o job.yml",
        "export workflow gitlab -o job.yml",
    ),
    "rules-lint-fix": (
        "rules lint --fix --dry-run misspelt.rules",
        "rules lint --fix misspelt.rules --format json",
        "rules lint --fix misspelt.rules",
        "rules lint --dry-run misspelt.rules",
    ),
    "gate": (
        f"gate few.rules my.rules {CALLS} --max 'any<=5%' --max 'null<=50%'",
        f"gate few.rules few.rules {CALLS} --max 'any<=0%' --format markdown",
        "gate few.rules my.rules --predict --max 'chmod<=5%' --format github",
        "gate few.rules my.rules --predict --max 'nosuch<=5%'",
        "gate few.rules faulty.rules --predict",
        "gate few.rules --predict",
        "gate few.rules nothing",
        "gate --git main..HEAD few.rules",
        f"gate few.rules my.rules {CALLS} --max 'any<=5%' --format json",
    ),
    "machines": (
        "list machines",
        "run study.toml --machine nosuch",
        f"run study.toml {ON} --instrument time",
    ),
    "list": (
        *(f"list {what}" for what in ("profiles", "workloads", "instruments", "studies")),
        "list runs",
        "list runs --format json",
        "list profiles my.rules",
        "list nothing",
    ),
    "runs": (
        "runs check",
        f"run study.toml {ON} --progress none",
        "runs check",
        "runs check study --format json",
        "runs check nothing",
        "runs remove study --dry-run",
        "runs remove study",
        "runs remove study",
        "runs remove --older-than 30d",
        "runs remove",
    ),
    "list-controls": ("list controls", "list controls kspp 'init_on_*'", "list controls nosuch"),
    "price": (
        "price init_on_free=1 --kernel 6.1",
        "price slub_debug=FZP --kernel 6.1 --all",
        "price kernel.kptr_restrict=2",
        "price '-w /etc/shadow -p wa'",
        "price '-w /etc/ -p wa' --format json",
        "price RHEL-09-213025",
        "price nopti mds kpti STRICT_DEVMEM",
        "price init_on_aloc",
        "price 1.5.2",
        "price",
        "price nosmt --kernel 2.6",
        "price --search ptrace",
        "price --search nosuchword",
        "price nosmt --search ptrace",
        "price --search ptrace --format json",
    ),
    "pricelist": (
        f"pricelist build init_on_free=1 kernel.sysrq=0 -o x.jsonl {CALLS}",
        f"pricelist build init_on_free=1 -o x.jsonl {CALLS} --dry-run",
        f"pricelist build init_on_fre=1 -o x.jsonl {CALLS}",
        f"pricelist build -o nosuch/x.jsonl {CALLS}",
        f"pricelist build {CALLS}",
        "pricelist site -o pages",
        "pricelist site -o pages",
    ),
    "here": (
        "here --root root",
        "here --root root --format json",
        "here --root root --format markdown",
        "here --root root --format prometheus",
        "here --root root --against 99-x.conf --histogram counts.json",
        "here --root root -o this.toml --fail-above 1%",
        "here --root root --policy accepted.toml --fail-above 28%",
        "here --root root --policy accepted.toml --fail-above 5% --format markdown",
        "here --root root --policy study.toml",
        "here --root root -o nosuch/this.toml",
        "here --root nosuch",
        "here --root root --fail-above much",
        "here --root root --against nosuch",
    ),
    "list-kernel-options": (
        "list kernel-options integrity --format json",
        "list kernel-options hardened",
    ),
    "import": (
        "import audit my.rules -o my.toml",
        "import audit my.rules faulty.rules -o -",
        "import audit my.rules -o my.rules",
        "import khc khc.json -o failing.toml",
        "import khc khc.json -o -",
        "import khc missing -o failing.toml",
        "import scap ds.xml --scap-profile p -o p.rules",
        "import scap ds.xml --scap-profile p -o -",
        "import scap ds.xml --scap-profile nosuch -o -",
        "import sysctl 99-x.conf -o x.toml",
        "import sysctl 99-x.conf -o -",
        "import sysctl 98-pattern.conf -o -",
        "import sysctl missing -o -",
    ),
    "rules-lint": (
        "rules lint my.rules",
        "rules lint faulty.rules",
        "rules lint expensive.rules --all",
        "rules lint faulty.rules --format json",
        "rules lint faulty.rules --select nosuch",
        "rules lint --explain shadowed",
        "rules lint --list",
    ),
    "rules-cost": (
        "rules cost my.rules",
        "rules cost my.rules --format json",
        "rules cost faulty.rules",
        "rules cost faulty.rules --leave-out-faulty",
    ),
    "rules-explain": (
        "rules explain my.rules --event 'syscall=chmod auid=1000 path=/etc/passwd'",
        "rules explain my.rules --event 'syscall=chmod auid=1000' --all --format json",
        "rules explain my.rules --event 'syscall=nosuch'",
    ),
    "rules-prove": (
        "rules prove few.rules few.rules",
        "rules prove my.rules few.rules",
        "rules prove few.rules my.rules --at-least",
        "rules prove my.rules few.rules --format json",
        "rules prove faulty.rules few.rules",
    ),
    "rules-optimize": (
        "rules optimize expensive.rules -o cheaper.rules",
        "rules optimize expensive.rules -o cheaper.rules",
        "rules optimize expensive.rules -o - --no-b32",
        "rules optimize faulty.rules -o never.rules",
    ),
    "doctor": ("doctor", "doctor --format json"),
    "restore": (
        "restore fake",
        "restore fake --format json",
        "restore vm",
        "restore nowhere",
    ),
    "image": (
        "image list",
        "image list --format json",
        "image build debian",
        "image remove",
        "image remove nosuch",
        "image remove --older-than 10w",
        "image remove --all --dry-run",
        "image remove 0123",
        "image remove --snapshots",
        "image remove --all",
        "image list",
    ),
    "kernel": (
        "kernel list",
        "kernel list --format json",
        "kernel check config",
        "kernel check config --format json",
        "kernel check missing",
        "kernel build --option NOSUCH",
        "kernel build --source linux --option A=y",
        "kernel build --source missing",
        "kernel build --profile audit-samples",
        "kernel build --workers lab1:99999",
        "kernel build --workers tcp://lab1",
    ),
    "cluster": (
        "cluster",
        "cluster ssh",
        "cluster ssh lab1 --address 'two words'",
        "cluster ssh lab1 --tls-ca config",
        'cluster ssh lab1 --ssh "ssh \'x"',
        "cluster ssh lab1",
        "cluster ssh -- -oProxyCommand=x",
        "cluster ssh lab2 --address tcp://lab1",
        "cluster ssh lab2 --address tcp://127.0.0.1",
        "cluster ssh lab2 --address tcp://lab1 --insecure",
        "cluster scheduler --address tcp://lab1",
    ),
    "worker": (
        "worker",
        "worker 'two words'",
        "worker lab1 --guests 0 --builds 0",
        "worker lab1 --builds 2",
        "worker tls://lab1",
        "worker tcp://lab1",
        "worker tcp://127.0.0.1 --listen 192.0.2.7",
        "worker tls://lab1 --listen tcp://192.0.2.7",
        "worker lab1 --tls-ca config",
        "worker tcp://lab1 --tls-ca config --tls-cert config --tls-key config",
        f"run study.toml --workers lab1:99999 {ON}",
        f"run study.toml --workers tcp://lab1 {ON}",
        f"run study.toml --insecure {ON}",
        f"run study.toml --tls-ca config {ON}",
        f"run study.toml --instrument time --workers lab1 {ON}",
    ),
}
"""What is said to the command line, by the name of the file that keeps the answers."""
