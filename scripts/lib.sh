# Shared by the scripts, which source it from the project's folder.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the scripts that source this use its variables

readonly PYTHON_OLDEST=3.11
readonly CARGO_OLDEST=1.85

say() { printf 'setup: %s\n' "$*" >&2; }

die() { # die STATUS LINE...
    local status=$1 line
    shift
    for line in "$@"; do say "$line"; done
    exit "$status"
}

at_least() { # at_least OLDEST VERSION
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

cargo_version() { cargo --version 2>/dev/null | cut -d ' ' -f 2; }

# Print the path of a recent enough Python: the first on the PATH, else the system's own.
find_python() {
    local python found
    for python in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3; do
        found=$("$python" -c 'import platform, sys
print(platform.python_version(), sys.executable)' 2>/dev/null) || continue
        if at_least "$PYTHON_OLDEST" "${found%% *}"; then
            printf '%s\n' "${found#* }"
            return
        fi
    done
    return 1
}

# The user's own uv is used if it is of the series in uv.txt and not older.
usable_uv() {
    local pinned version
    pinned=$(sed -n 's/^uv==\([0-9.]*\).*/\1/p' scripts/uv.txt)
    version=$("$1" --version 2>/dev/null | cut -d ' ' -f 2) || return
    [ "${version%.*}" = "${pinned%.*}" ] && at_least "$pinned" "$version"
}

# uv doesn't read pip's configuration: pass on pip's own index and certificates, if any.
follow_pip() {
    local pip=build/uv/bin/pip index certificates
    index=${PIP_INDEX_URL:-$("$pip" config get global.index-url 2>/dev/null)}
    certificates=${PIP_CERT:-$("$pip" config get global.cert 2>/dev/null)}
    [ -z "$index" ] || export UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-$index}
    [ -z "$certificates" ] || export SSL_CERT_FILE=${SSL_CERT_FILE:-$certificates}
}

# Set `uv` to the command to use, installing one in build/uv if there is none; $1 is a Python.
find_uv() {
    uv=uv
    if usable_uv uv; then return; fi
    uv=build/uv/bin/uv
    if ! usable_uv "$uv"; then
        say "installing uv in build/uv"
        rm -rf build/uv
        "$1" -m venv build/uv
        build/uv/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
            --require-hashes --only-binary :all: --requirement scripts/uv.txt
    fi
    follow_pip || true
}

# Write this machine's apt lines for a suite of Debian to a folder: its own, else those of its release
# with the suite's name instead.
apt_sources() { # apt_sources SUITE FOLDER
    local own release file
    # shellcheck source=/dev/null
    own=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
    for release in "$1" "$own"; do
        for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
            if grep -qsw "$release" "$file"; then
                sed "s/\b$release\b/$1/g" "$file" >"$2/${file##*/}"
            fi
        done
        if [ -n "$(ls -A "$2")" ]; then return; fi
    done
    return 1
}
