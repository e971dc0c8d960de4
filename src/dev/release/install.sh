#!/bin/sh
# Installs the executable of Cloakroom for this machine, from a folder or an address with what `bun run release` made.
# Needs no root. Nothing is replaced before its SHA-256 was compared and it has run once.
#
#   sh install.sh [--from FOLDER|URL] [--to FOLDER] [--sums-sha256 HEX]
#
# --from         where the files are; by default where this file was published, or the folder that it is in
# --to           where to install: ~/.local/bin, or /usr/local/bin for root
# --sums-sha256  the SHA-256 of SHA256SUMS, got elsewhere: then nobody who can change the files can change what is installed
set -eu

# Written by `bun run release --url`.
published=''

main() {
  from=$published to='' sums_sha256=''
  while [ $# -gt 0 ]; do
    [ -n "${2-}" ] || fail "$1 needs a value"
    case $1 in
      --from) from=$2 ;;
      --to) to=$2 ;;
      --sums-sha256) sums_sha256=$2 ;;
      *) fail "unknown option $1 (known: --from, --to, --sums-sha256)" ;;
    esac
    shift 2
  done
  [ -n "$from" ] || from=$(own_folder)
  [ -n "$from" ] || fail 'say with --from where the files are: a folder or an address'
  [ -n "$to" ] || to=$(usual_folder)
  check_source
  case $to in -*) to=./$to ;; esac
  target=$(this_machine)
  install_it "cloakroom-$target"
}

install_it() {
  [ ! -d "$to/cloakroom" ] || fail "$to/cloakroom is a folder"
  mkdir -p "$to" || fail "$to cannot be made"
  # Beside its destination, since only a file of the same disk is replaced in one step.
  work=$(mktemp -d "$to/.cloakroom.XXXXXX") || fail "nothing can be written into $to"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  get SHA256SUMS
  [ -z "$sums_sha256" ] || compare SHA256SUMS "$sums_sha256"
  expected=$(awk -v name="$1.gz" '$2 == name { print $1 }' "$work/SHA256SUMS")
  [ ${#expected} -eq 64 ] || fail "SHA256SUMS does not say what $1.gz is: it is missing for this machine, or it is damaged"
  get "$1.gz"
  compare "$1.gz" "$expected"
  gzip -dc "$work/$1.gz" >"$work/cloakroom" || fail "$1.gz cannot be unpacked"
  chmod 755 "$work/cloakroom"
  version=$("$work/cloakroom" --version) || cannot_run "$1"
  mv -f "$work/cloakroom" "$to/cloakroom"
  echo "Installed Cloakroom $version as $to/cloakroom."
  case ":$PATH:" in
    *":$to:"*) ;;
    *) echo "$to is not in PATH: add it, such as by: export PATH=\"$to:\$PATH\"" ;;
  esac
}

# Files with their hashes over a connection that anybody can change would be as good as without.
check_source() {
  host=${from#*://}
  case ${host%%/*} in
    *@*) fail 'an address has no user in it' ;;
  esac
  case $from in
    -*) fail "there is no folder $from" ;;
    https://* | http://localhost[:/]* | http://127.0.0.1[:/]* | 'http://[::1]'[:/]*) ;;
    *://*) fail "$from: only https, and http of this machine" ;;
    *) [ -d "$from" ] || fail "there is no folder $from" ;;
  esac
  from=${from%/}
}

this_machine() {
  kernel=$(uname -s) machine=$(uname -m)
  case $machine in
    x86_64 | amd64) machine=x64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) fail "there is no executable for $kernel on $machine" ;;
  esac
  case $kernel in
    Linux) echo "linux-$machine$(libc_suffix)" ;;
    Darwin)
      # A shell that Rosetta translates calls an arm64 machine x86_64.
      [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" != 1 ] || machine=arm64
      echo "darwin-$machine"
      ;;
    *) fail "there is no installer for $kernel; for Windows take cloakroom-windows-x64.exe" ;;
  esac
}

libc_suffix() {
  if getconf GNU_LIBC_VERSION >/dev/null 2>&1; then return; fi
  if ls /lib/ld-musl-*.so.1 >/dev/null 2>&1; then echo -musl; fi
}

# A script that is piped into a shell runs in the folder of its caller, where anybody may have put files.
own_folder() {
  case ${0##*/} in
    install.sh) ;;
    *) return 0 ;;
  esac
  folder=$(dirname "$0")
  [ ! -f "$folder/SHA256SUMS" ] || echo "$folder"
}

usual_folder() {
  if [ "$(id -u)" -eq 0 ]; then echo /usr/local/bin; else echo "${HOME:?}/.local/bin"; fi
}

get() {
  case $from in
    *://*) download "$from/$1" "$work/$1" || fail "$from/$1 cannot be had" ;;
    *) cp "$from/$1" "$work/$1" 2>/dev/null || fail "$from/$1 cannot be read" ;;
  esac
}

download() {
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --proto-redir '=https' --output "$2" "$1"
  elif [ -n "$sums_sha256" ] && command -v wget >/dev/null; then
    wget -q -O "$2" "$1"
  elif command -v wget >/dev/null; then
    # It would go on to a plain connection.
    wget -q --max-redirect=0 -O "$2" "$1" ||
      fail "$1 cannot be had by wget, which may not follow a redirect: install curl, or give --sums-sha256"
  else
    fail 'neither curl nor wget is here'
  fi
}

compare() {
  actual=$(sha256 "$work/$1")
  [ "$actual" = "$2" ] || fail "$1 is not what was published: SHA-256 $actual, expected $2. Nothing was installed."
}

sha256() {
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null; then
    shasum -a 256 <"$1" | cut -d ' ' -f 1
  else
    fail 'neither sha256sum nor shasum is here'
  fi
}

cannot_run() {
  case $1 in
    *-musl) fail "$1 does not run here. It needs the C++ library: apk add libstdc++" ;;
    *) fail "$1 does not run here: is it made for this machine?" ;;
  esac
}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

# The last line, so that a file that was cut off does nothing.
main "$@"
