#!/bin/sh
# Install system packages that tests need: scripts/system.sh PROGRAM=PACKAGE ...
# Skips programs that are already installed. Without permission to install, prints what to do.
set -eu

missing=""
for pair in "$@"; do
  command -v "${pair%%=*}" > /dev/null 2>&1 || missing="$missing ${pair#*=}"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get > /dev/null 2>&1; then
  echo "tests that need$missing will be skipped; install it with your package manager" >&2
  exit 0
fi
if [ "$(id -u)" -eq 0 ]; then
  sudo=""
elif command -v sudo > /dev/null 2>&1 && sudo -n true 2> /dev/null; then
  sudo="sudo -n"
else
  echo "tests that need$missing will be skipped; to install it, run as root: apt-get install$missing" >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive

# Another installation may hold one of apt's locks; only that of dpkg can be waited for.
patiently() {
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    "$@" && return 0
    sleep 15
  done
  return 1
}
patiently $sudo apt-get update -qq
# shellcheck disable=SC2086 # several packages are several words
patiently $sudo apt-get -o DPkg::Lock::Timeout=300 install -qq --yes --no-install-recommends $missing
