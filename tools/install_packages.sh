#!/bin/sh
# Installs the Debian packages of a list beside this file that are missing. Without root it says which those are.
# Usage: install_packages.sh packages.txt
set -eu
cd "$(dirname "$0")"
missing=$(while read -r name; do dpkg -s "$name" >/dev/null 2>&1 || echo "$name"; done < "$1")
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
  echo "whystop: these packages are missing; as root: apt-get install" $missing >&2
  exit 1
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
