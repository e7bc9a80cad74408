#!/usr/bin/env bash
# What must be on the machine before anything is set up: one clear line for what is missing.
# Usage: prerequisites.sh <python> | prerequisites.sh --browser | --mongo | --prometheus
set -euo pipefail

refuse() {
  echo "$1" >&2
  exit 1
}

base() {
  local python=$1 version
  command -v "$python" >/dev/null || refuse "Python 3.11 or later is needed; there is no $python."
  version=$("$python" -c 'import platform; print(platform.python_version())' 2>/dev/null) ||
    refuse "Python 3.11 or later is needed; $python does not run."
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    refuse "Python 3.11 or later is needed; $python is $version. Another one: make ... PYTHON=python3.12"
  "$python" -c 'import venv, ensurepip' 2>/dev/null ||
    refuse "Python's venv and ensurepip are needed; on Debian and Ubuntu: apt-get install python3-venv"

  command -v node >/dev/null || refuse "Node.js 20.19 or later is needed; there is no node."
  version=$(node --version 2>/dev/null) || refuse "Node.js 20.19 or later is needed; node does not run."
  node -e 'const [a, b] = process.versions.node.split(".").map(Number);
    process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    refuse "Node.js 20.19 or later is needed; node is ${version#v}."
  command -v npm >/dev/null || refuse "npm is needed, which comes with Node.js; there is no npm."
}

has_browser() {
  local name
  for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then return 0; fi
  done
  return 1
}

browser() {
  if has_browser; then return; fi
  if [[ $(id -u) == 0 ]] && [[ -e /etc/debian_version ]]; then
    echo "Installing chromium, which the browser tests drive."
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends chromium </dev/null
    has_browser && return
  fi
  refuse "The tests need Chromium; on Debian and Ubuntu: sudo apt-get install chromium"
}

# How the tests find one is in tests/mongo/server.py.
has_mongo() {
  [[ -n ${ATAJO_TEST_MONGODB_URL:-} ]] || command -v mongod >/dev/null ||
    { command -v docker >/dev/null && timeout 10 docker info >/dev/null 2>&1; } ||
    { command -v mvn >/dev/null && command -v javac >/dev/null; }
}

mongo() {
  if has_mongo; then return; fi
  if [[ $(id -u) == 0 ]] && [[ -e /etc/debian_version ]]; then
    echo "Installing Maven and a JDK, which the tests' MongoDB runs on."
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends maven default-jdk-headless </dev/null
    has_mongo && return
  fi
  refuse "The tests need a MongoDB server: mongod, Docker, or Maven and a JDK; on Debian and Ubuntu:
  sudo apt-get install maven default-jdk-headless"
}

has_prometheus() {
  command -v prometheus >/dev/null && command -v promtool >/dev/null
}

prometheus() {
  if has_prometheus; then return; fi
  if [[ $(id -u) == 0 ]] && [[ -e /etc/debian_version ]]; then
    echo "Installing prometheus, which loads and tests the rules."
    export DEBIAN_FRONTEND=noninteractive
    # The package's own service would listen on every address: only its programs are wanted.
    if [[ -d /run/systemd/system ]]; then systemctl --quiet mask prometheus; fi
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends prometheus </dev/null
    has_prometheus && return
  fi
  refuse "Prometheus and promtool are needed; on Debian and Ubuntu: sudo apt-get install prometheus"
}

case ${1:?} in
  --prometheus) prometheus ;;
  --mongo) mongo ;;
  --browser) browser ;;
  *) base "$1" ;;
esac
