# Run in the new root, after all packages are there. What differs from machine to machine or from
# build to build is fixed or goes; nothing here may depend on the host.

useradd --uid 1000 --create-home --shell /bin/sh user
install -d /srv/tree

echo hardcost >/etc/hostname
echo hardcost >/etc/mailname
printf '127.0.0.1\tlocalhost hardcost\n::1\tlocalhost ip6-localhost ip6-loopback\n' >/etc/hosts
: >/etc/fstab
: >/etc/resolv.conf
echo 'LANG=C.UTF-8' >/etc/default/locale
ln -sf /usr/share/zoneinfo/Etc/UTC /etc/localtime
echo 68617264636f73740000000000000001 >/etc/machine-id
if [ -d /var/lib/dbus ]; then ln -sf /etc/machine-id /var/lib/dbus/machine-id; fi

# What Debian's packages hold, for fapolicyd's trust in it: the host hashes it in a second, a guest in
# half a minute. The rules ask for trust in what is executed, and in what fapolicyd itself takes for a
# library, bytecode or a script, so plain text is left out. When fapolicyd starts it compares each
# line of the list with all lines before it: half as many lines take a quarter of the time.
candidates() {
    {
        find usr/bin usr/sbin usr/lib usr/libexec usr/local -xdev -type f
        find usr/share -xdev -type f '(' -name '*.py' -o -name '*.py?' -o -name '*.p[lm]' \
            -o -name '*.awk' -o -name '*.lua' -o -name '*.php' -o -name '*.rb' ')'
    } | grep -v '[[:space:]]'
}
# Plain names tell what most files are; asking takes 10 ms for each of the others.
more_than_text='
for file; do
    case $file in
    *.so | *.so.* | *.pyc) ;;
    *) [ -x "$file" ] || [ "$(fapolicyd-cli --ftype "/$file")" != text/plain ] || continue ;;
    esac
    echo "$file"
done
'
trusted() {
    candidates | xargs -d '\n' -n 32 -P "$(nproc)" sh -c "$more_than_text" sh | LC_ALL=C sort
}
cd /
if [ -d /etc/fapolicyd/trust.d ]; then
    trusted >/run/trusted
    xargs -d '\n' stat -c '/%n %s' </run/trusted >/run/sizes
    xargs -d '\n' sha256sum </run/trusted | cut -c 1-64 | paste -d ' ' /run/sizes - \
        >/etc/fapolicyd/trust.d/debian
fi

# Debian's policy of SELinux lets nobody ask for events of directories by fanotify, not even those it
# does not confine: enforcing, neither fapolicyd nor clamonacc would start.
if command -v semodule >/dev/null; then
    rights='(dir (watch watch_mount watch_sb watch_with_perm watch_reads))'
    echo "(allow unconfined_t file_type $rights)" >/run/hardcost-watching.cil
    echo "(allow unconfined_t filesystem_type $rights)" >>/run/hardcost-watching.cil
    semodule --noreload --install /run/hardcost-watching.cil
fi

# No packages are fetched in a guest, and none of its services write to a cache at first.
rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /etc/apt/apt.conf.d/99mmdebstrap \
    /etc/apt/trusted.gpg.d/* /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old \
    /var/cache/ldconfig/aux-cache /var/lib/dpkg/*-old /etc/ssh/ssh_host_* /etc/*- \
    /var/lib/systemd/random-seed /var/lib/systemd/credential.secret
find /var/log -type f -exec truncate -s 0 {} +
# Nothing else under /run and /tmp: mmdebstrap clears both when it is done. Until then its settings
# of apt lie there, without which it would work on the host's packages.
rm -rf /run/trusted /run/sizes /run/hardcost-watching.cil /var/tmp/*
