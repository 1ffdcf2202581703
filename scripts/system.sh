#!/bin/sh
# Programs that tests need and pip cannot install: COMMAND:PACKAGE of Debian, installed where that is allowed.
# Without them the tests that need them are skipped.
set -eu
wanted="java:openjdk-17-jre-headless"

missing=""
for each in $wanted; do
  command -v "${each%%:*}" >/dev/null 2>&1 || missing="$missing ${each#*:}"
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" != 0 ]; then
  as_root="sudo -n"
  $as_root true 2>/dev/null || { echo "not installed, tests that need it are skipped:$missing" >&2; exit 0; }
fi
if ! command -v apt-get >/dev/null 2>&1; then
  echo "not installed, tests that need it are skipped:$missing" >&2
  exit 0
fi
$as_root apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing
