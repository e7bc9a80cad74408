#!/bin/sh
# Starts nginx in a folder of its own with its configuration, the settings below as files that it
# includes, and the documents filled in. Arguments go on to nginx.
#
#   ATAJO_PUBLIC_URL       where people reach the product
#   ATAJO_CONTACT          e-mail address the legal pages name; contact@ and the public host by default
#   ATAJO_GATEWAY          host:port of the gateway
#   ATAJO_TRUSTED_PROXIES  CIDRs, by commas, whose X-Forwarded-For is believed; none by default
#   ATAJO_RESOLVER         name servers, by commas; those of /etc/resolv.conf by default
#   ATAJO_LISTEN, ATAJO_METRICS_LISTEN   host:port, 0.0.0.0:8080 and 0.0.0.0:9090 by default
#   ATAJO_WEB_DIR          what gateway/nginx/webroot.py laid out; beside this script by default
#
# Writes below ${TMPDIR:-/tmp} alone.
set -eu
trap 'exit 143' TERM INT QUIT # As a container's first process a shell would go on.
export LC_ALL=C

here=$(dirname "$0")
web=${ATAJO_WEB_DIR:-$here/web}
work=${TMPDIR:-/tmp}/atajo-web

refuse() {
  echo "Settings refused. $1" >&2
  exit 1
}

# What nginx is to read must be addresses and no more.
addresses() { # name, value
  case $2 in
  *[!]A-Za-z0-9.:/_,[\ -]*) refuse "$1: these are no addresses" ;;
  esac
  printf '%s' "$2" | tr -s ', ' '\n\n' | sed '/^$/d'
}

address() { # name, value
  case $2 in
  *[!]A-Za-z0-9.:_[-]*) refuse "$1: this is no address" ;;
  ?*:[0-9]*) printf '%s' "$2" ;;
  *) refuse "$1: host:port is needed" ;;
  esac
}

# The origin as the gateway writes it: in lower case, without a default port or a slash.
origin() {
  url=$(printf '%s' "$1" | tr '[:upper:]' '[:lower:]')
  url=${url%/}
  case $url in
  http://*) url=${url%:80} ;;
  https://*) url=${url%:443} ;;
  *) refuse "ATAJO_PUBLIC_URL: http:// or https:// is needed" ;;
  esac
  case ${url#*://} in
  '' | *[!]a-z0-9.:[-]*) refuse "ATAJO_PUBLIC_URL: scheme, host and port are needed, and no more" ;;
  esac
  printf '%s' "$url"
}

# Text as it stands in a document, between quotes, and as sed writes it.
text() { # name, value
  case $2 in
  *[\"\'\<\>[:cntrl:]]*) refuse "$1: a quote, an angle bracket or a control character is in it" ;;
  esac
  printf '%s' "$2" | sed -e 's/&/\&amp;/g' -e 's/[\\|&]/\\&/g'
}

# The e-mail address where none is told: a number stands in brackets, as the gateway writes it.
default_contact() { # origin
  host=${1#*://}
  case $host in
  '['*) host="[IPv6:${host#[}" host=${host%]*}] ;;
  *)
    host=${host%:*}
    case $host in
    *[!0-9.]*) ;;
    *) host="[$host]" ;;
    esac
    ;;
  esac
  printf 'contact@%s' "$host"
}

# Where a whole machine starts at once, its name servers may come after this: nginx would end. They
# are waited for, a minute at most.
await_name() { # host:port
  end=$(($(date +%s) + 60))
  until timeout 3 getent ahosts "${1%:*}" >/dev/null || [ "$(date +%s)" -ge "$end" ]; do
    [ "${told:-}" ] || echo "Waiting for the address of ${1%:*}." >&2
    told=yes
    sleep 1
  done
}

# nginx asks name servers for a name as it stands: it must be the full one.
full_name() { # host:port
  host=${1%:*}
  found=$(getent ahosts "$host" | { read -r _ _ name _ && printf '%s' "$name"; }) || found=
  printf '%s:%s' "${found:-$host}" "${1##*:}"
}

resolver() {
  servers=$(addresses ATAJO_RESOLVER "${ATAJO_RESOLVER:-}")
  if [ -z "$servers" ] && [ -r /etc/resolv.conf ]; then
    servers=$(sed -n -e 's/^nameserver[[:space:]]*//p' /etc/resolv.conf |
      sed -e '/%/d' -e 's/^[0-9a-fA-F]*:.*:.*$/[&]/')
  fi
  [ -z "$servers" ] || printf 'resolver %s valid=5s;' "$(printf '%s' "$servers" | tr '\n' ' ')"
}

# Each is an assignment of its own: only there does a refusal end the script.
public_url=$(origin "${ATAJO_PUBLIC_URL:?is needed}")
case ${ATAJO_CONTACT:-} in
*[![:space:]]*) ;;
*) ATAJO_CONTACT=$(default_contact "$public_url") ;;
esac
contact=$(text ATAJO_CONTACT "$ATAJO_CONTACT")
gateway=$(address ATAJO_GATEWAY "${ATAJO_GATEWAY:?is needed}")
case $gateway in
'['*) ;; # A number, which is nobody's name.
*) await_name "$gateway" ;;
esac
gateway=$(full_name "$gateway")
listen=$(address ATAJO_LISTEN "${ATAJO_LISTEN:-0.0.0.0:8080}")
metrics_listen=$(address ATAJO_METRICS_LISTEN "${ATAJO_METRICS_LISTEN:-0.0.0.0:9090}")
trusted=$(addresses ATAJO_TRUSTED_PROXIES "${ATAJO_TRUSTED_PROXIES:-}")
resolver=$(resolver)

# What a killed one left would be in the way.
rm -rf "$work"
mkdir -p "$work/documents" "$work/start"
web=$(cd "$web" && pwd)
cp -R "$here"/*.conf "$here/edge" "$work"
cd "$work"
ln -s "$web/files" files

echo "listen $listen;" >start/listen.conf
echo "listen $metrics_listen;" >start/metrics_listen.conf
echo "server $gateway max_fails=32 fail_timeout=5s;" >start/gateway.conf
printf '%s\n' "$resolver" "set \$gateway $gateway;" >start/gateway_anew.conf
printf '%s' "$trusted" | sed 's/.*/set_real_ip_from &;/' >start/trusted_proxies.conf

case $public_url in
https://*) echo "include edge/https_headers.conf;" ;;
esac >start/https_headers.conf

for document in "$web"/documents/*.html; do
  filled=documents/${document##*/}
  sed -e "s|@ATAJO_PUBLIC_URL@|$public_url|g" -e "s|@ATAJO_CONTACT@|$contact|g" "$document" >"$filled"
  gzip -9 -n -c "$filled" >"$filled.gz"
  # nginx makes the ETag of time and size: made of the content, the time is the same on every
  # replica and another one with other settings.
  touch -d "@$((0x$(sha256sum "$filled" | cut -c 1-7)))" "$filled" "$filled.gz"
done

exec nginx -e stderr -p "$PWD/" -c nginx.conf "$@"
