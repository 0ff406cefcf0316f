#!/bin/sh
# Runs a program that sees no file but those it is given, and nothing of the host besides.
#
#   sandbox.sh ROOT UID GID [ro FOLDER | rw FOLDER AT]... -- PROGRAM [ARGUMENT]...
#
# It runs as process 1 of namespaces of its own, with the right to mount there. ROOT is an empty
# folder, UID and GID are whom the program runs as. Each folder appears at its own path, or at AT.
set -eu
umask 022
root=$1 uid=$2 gid=$3
shift 3
hostname hardcost

place() { # FOLDER AT
	mkdir -p "$root$2"
	mount --rbind -- "$1" "$root$2"
}

mount -t tmpfs -o mode=755,nosuid,nodev none "$root"
mkdir "$root/proc" "$root/processes" "$root/tmp" "$root/dev" "$root/etc"
place /usr /usr
for name in bin sbin lib lib32 lib64 libx32; do
	if [ -L "/$name" ]; then
		ln -s "$(readlink "/$name")" "$root/$name"
	elif [ -d "/$name" ]; then
		place "/$name" "/$name"
	fi
done
for name in alternatives ld.so.cache ld.so.conf ld.so.conf.d ssl/openssl.cnf; do
	if [ -e "/etc/$name" ]; then
		(cd / && cp -dR --parents "etc/$name" "$root")
	fi
done
for name in null zero full random urandom; do
	: >"$root/dev/$name"
	mount --bind "/dev/$name" "$root/dev/$name"
done
ln -s /proc/self/fd "$root/dev/fd"
mount -t proc -o nosuid,nodev,noexec none "$root/proc"
mount -t proc -o nosuid,nodev,noexec,subset=pid none "$root/processes"
mount -t tmpfs -o mode=1777,nosuid,nodev none "$root/tmp"

writable="
$root/tmp
$root/proc
$root/processes
"
while [ "$1" != -- ]; do
	if [ "$1" = rw ]; then
		place "$2" "$3"
		writable="$writable$root$3
"
		shift 3
	else
		place "$2" "$2"
		shift 2
	fi
done
shift

# All else is read-only. Flags that a mount has already can't be taken away in a user namespace.
mounts=$(cat /proc/self/mountinfo)
while read -r _ _ _ _ point options _; do
	point=$(printf '%b' "$point")
	case $point in
	"$root"/dev/*) continue ;;
	"$root" | "$root"/*) ;;
	*) continue ;;
	esac
	case $writable in
	*"
$point
"*) access=${options%%,*} ;;
	*) access=ro ;;
	esac
	mount -o "remount,bind,$access,nosuid,nodev,${options#*,}" "$point"
done <<LIST
$mounts
LIST

cd "$root"
pivot_root . .
umount -l .
cd /

# A namespace more, so that nothing that was mounted can be changed, nor one made inside of it.
# Once that is said, /proc holds processes alone: root would find the kernel's settings there.
# shellcheck disable=SC2016
exec unshare --user --map-root-user --mount -- sh -euc '
	echo 1 >/proc/sys/user/max_user_namespaces
	mount --bind /processes /proc
	uid=$1 gid=$2
	shift 2
	exec unshare --user --map-user="$uid" --map-group="$gid" --keep-caps -- \
		setpriv --no-new-privs --inh-caps=-all --bounding-set=-all -- \
		env -i PATH="$PATH" sh -c "\"\$@\"; exit \$?" sh "$@"
' sh "$uid" "$gid" "$@"
