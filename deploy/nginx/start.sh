#!/bin/sh
# Starts nginx in a new folder with its configuration, include files made of the settings below, and
# the pages' documents with their placeholders filled in. Passes its arguments on to nginx.
#
#   ATAJO_PUBLIC_URL       the public origin of the product; required
#   ATAJO_DOMAINS          further origins, separated by commas; short URLs work there
#   ATAJO_CONTACT          e-mail address on the legal pages; contact@ and the public host by default
#   ATAJO_SERVICE_WORKER   off: remove the pages' service worker from every browser that has it
#   ATAJO_REGISTRATION     open, invite or closed, as of the gateway; open by default
#   ATAJO_GUEST_LINKS      off: only accounts can shorten, as of the gateway
#   ATAJO_ADMIN_PAGES      off: there is no page for administrators, as of the gateway
#   ATAJO_OIDC_NAME        name of the OpenID Connect provider with which users may log in; none by default
#   ATAJO_GATEWAY          host:port of the gateway; required
#   ATAJO_TRUSTED_PROXIES  CIDRs, separated by commas, whose X-Forwarded-For is trusted; none by default
#   ATAJO_TRUSTED_HOPS     alternative: the number of proxies in front, each of which adds an address
#   ATAJO_RESOLVER         name servers, separated by commas; those of /etc/resolv.conf by default
#   ATAJO_LISTEN, ATAJO_METRICS_LISTEN   host:port; 0.0.0.0:8080 and 0.0.0.0:9090 by default
#   ATAJO_WEB_DIR          output folder of gateway/nginx/webroot.py; beside this script by default
#
# Writes only below ${TMPDIR:-/tmp}.
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

# Only addresses may enter nginx's configuration.
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

# An origin as the gateway writes it: lower case, without a default port or a trailing slash.
origin() { # name, value
  url=$(printf '%s' "$2" | tr '[:upper:]' '[:lower:]')
  url=${url%/}
  case $url in
  http://*) url=${url%:80} ;;
  https://*) url=${url%:443} ;;
  *) refuse "$1: http:// or https:// is needed" ;;
  esac
  case ${url#*://} in
  '' | *[!]a-z0-9.:[-]*) refuse "$1: scheme, host and port are needed, and no more" ;;
  esac
  printf '%s' "$url"
}

# The further origins, one a line.
further_origins() { # value
  case $1 in
  *[[:cntrl:]]*) refuse "ATAJO_DOMAINS: a control character is in it" ;;
  esac
  printf '%s\n' "$1" | tr ',' '\n' | sed -e 's/^ *//' -e 's/ *$//' -e '/^$/d' |
    while IFS= read -r each; do
      origin ATAJO_DOMAINS "$each"
      echo
    done
}

# The values of Host of requests to the further origins: a default port may be stated.
further_hosts() { # origins
  printf '%s\n' "$1" | sed -e '/^$/d' -e 's|.*://||' | while IFS= read -r host; do
    echo "$host"
    case $host in
    *]:* | [!'[']*:*) ;;
    *) printf '%s\n' "$host:80" "$host:443" ;;
    esac
  done | grep -vxF "${public_url#*://}" || :
}

# Escapes text for an HTML attribute and for sed.
text() { # name, value
  case $2 in
  *[\"\'\<\>[:cntrl:]]*) refuse "$1: a quote, an angle bracket or a control character is in it" ;;
  esac
  printf '%s' "$2" | sed -e 's/&/\&amp;/g' -e 's/[\\|&]/\\&/g'
}

# The default e-mail address, with an IP address in brackets, as in the gateway.
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

# When a whole machine starts, its name servers may start later, and nginx would exit. Wait for them
# for up to a minute.
await_name() { # host:port
  end=$(($(date +%s) + 60))
  until timeout 3 getent ahosts "${1%:*}" >/dev/null || [ "$(date +%s)" -ge "$end" ]; do
    [ "${told:-}" ] || echo "Waiting for the address of ${1%:*}." >&2
    told=yes
    sleep 1
  done
}

# nginx does not use search domains: it needs the fully qualified name.
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

hops() { # value
  case $1 in
  [0-9] | 10) printf '%s' "$1" ;;
  *) refuse "ATAJO_TRUSTED_HOPS: a number from 0 to 10 is needed" ;;
  esac
}

on_or_off() { # name, value
  case $2 in
  on | off) printf '%s' "$2" ;;
  *) refuse "$1: on or off is needed" ;;
  esac
}

# Prints `built-in`, or the file to load, or nothing if nginx has no stream module.
stream_module() {
  built=$(nginx -V 2>&1)
  case " $built " in
  *' --with-stream '*) echo built-in ;;
  *)
    file=$(printf '%s' "$built" | sed -n 's/.*--modules-path=\([^ ]*\).*/\1/p')/ngx_stream_module.so
    [ ! -e "$file" ] || echo "$file"
    ;;
  esac
}

# The client is the rightmost address that does not belong to a trusted proxy.
client_ip_of_connection() { # header or proxy_protocol, trusted
  echo "real_ip_header $1;"
  echo "real_ip_recursive on;"
  printf '%s\n' "$2" | sed '/^$/d; s/.*/set_real_ip_from &;/'
  echo 'map "" $client_ip { default $remote_addr; }'
}

# The client is the N-th address from the right, which the first of N proxies added. If that is not an
# address, the client is that of the connection.
client_ip_of_hop() { # number of proxies
  cat <<CONF
map \$http_x_forwarded_for \$hop {
    "~(?:^|,)[ \t]*([^,]*?)[ \t]*(?:,[^,]*){$(($1 - 1))}\$" \$1;
}
map \$hop \$hop_address {
    "~^((?:(?:0|[1-9][0-9]{0,2})(?:\.|(?=:|\$))){4})(?::[0-9]{1,5})?\$" \$1;
    "~^\[([0-9A-Fa-f:.]+)\](?::[0-9]{1,5})?\$" \$1;
    "~^([0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)\$" \$1;
}
# geo treats anything else as this address.
geo \$hop_address \$hop_is_address {
    default yes;
    255.255.255.255 no;
}
map "\$hop_is_address \$hop_address" \$client_ip {
    default \$remote_addr;
    "~^yes (.+)\$" \$1;
}
CONF
}

# Each is an assignment of its own: only then does a refusal end the script.
public_url=$(origin ATAJO_PUBLIC_URL "${ATAJO_PUBLIC_URL:?is needed}")
further=$(further_origins "${ATAJO_DOMAINS:-}")
[ -z "$(printf '%s\n' "$public_url" "$further" | sed 's|.*://||' | sort | uniq -d)" ] ||
  refuse "ATAJO_DOMAINS: a host is listed twice, or is that of the public URL"
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
hops=$(hops "${ATAJO_TRUSTED_HOPS:-0}")
[ -z "$trusted" ] || [ "$hops" = 0 ] ||
  refuse "ATAJO_TRUSTED_PROXIES and ATAJO_TRUSTED_HOPS: set one of them"
service_worker=$(on_or_off ATAJO_SERVICE_WORKER "${ATAJO_SERVICE_WORKER:-on}")
guest_links=$(on_or_off ATAJO_GUEST_LINKS "${ATAJO_GUEST_LINKS:-on}")
admin_pages=$(on_or_off ATAJO_ADMIN_PAGES "${ATAJO_ADMIN_PAGES:-on}")
oidc_name=$(text ATAJO_OIDC_NAME "${ATAJO_OIDC_NAME:-}")
registration=${ATAJO_REGISTRATION:-open}
case $registration in
open | invite | closed) ;;
*) refuse "ATAJO_REGISTRATION: open, invite or closed is needed" ;;
esac
# Parts of documents are for instances that offer something: <!--if NAME NAME-->…<!--fi-->. The script
# removes the others, and the marks. No part contains another, and each is on one line.
[ "$guest_links" = on ] && missing=no-guest-links || missing=guest-links
[ "$registration" = open ] || missing="$missing registration"
fi=$(printf '\001')
parts="s|<!--fi-->|$fi|g"
for offer in $missing; do
  parts="$parts;s|<!--if \\([a-z-]* \\)*$offer\\( [a-z-]*\\)*-->[^$fi]*$fi||g"
done
parts="$parts;s/<!--if [a-z -]*-->//g;s/$fi//g"

resolver=$(resolver)
stream=$(stream_module)

# Remove what a killed process left behind.
rm -rf "$work"
mkdir -p "$work/documents" "$work/start"
web=$(cd "$web" && pwd)
cp -R "$here"/*.conf "$here/edge" "$work"
cd "$work"
ln -s "$web/files" files

echo "$stream" | sed '/^$/d; /^built-in$/d; s/.*/load_module &;/' >start/modules.conf
echo "listen $listen;" >start/public_listen.conf
if [ "$trusted$hops" = 0 ] && [ "$stream" ]; then
  echo "include connections.conf;" >start/connections.conf
  # Clients connect directly. Each of their connections counts.
  printf '%s\n' "listen unix:front.sock proxy_protocol;" "keepalive_timeout 15s;" >start/listen.conf
  client_ip_of_connection proxy_protocol unix: >start/client_ip.conf
else
  [ "$trusted$hops" != 0 ] ||
    echo "This nginx has no stream module: connections of a client are not limited." >&2
  : >start/connections.conf
  # A proxy in front must be the first to close.
  printf '%s\n' "listen $listen;" "keepalive_timeout 75s;" >start/listen.conf
  if [ "$hops" = 0 ]; then
    client_ip_of_connection X-Forwarded-For "$trusted" >start/client_ip.conf
  else
    client_ip_of_hop "$hops" >start/client_ip.conf
  fi
fi
echo "listen $metrics_listen;" >start/metrics_listen.conf
echo "server $gateway max_fails=32 fail_timeout=5s;" >start/gateway.conf
printf '%s\n' "$resolver" "set \$gateway $gateway;" >start/gateway_anew.conf

case $public_url in
https://*) echo "include edge/https_headers.conf;" ;;
esac >start/https_headers.conf

# Requests to a further origin are the gateway's.
: >start/further_hosts.conf
: >start/further.conf
if [ "$further" ]; then
  {
    echo "map \$http_host \$further {"
    further_hosts "$further" | sed 's/.*/    "&" 1;/'
    echo "}"
  } >start/further_hosts.conf
  echo "if (\$further) { rewrite ^ /.further last; }" >start/further.conf
fi

if [ "$admin_pages" = off ]; then
  echo "if (\$uri = /admin) { return 404; }"
fi >start/hidden_pages.conf

if [ "$service_worker" = off ]; then
  echo "location = /sw.js { try_files /sw-off.js =404; set \$cache_control \$edge_cache_files; }"
fi >start/service_worker.conf

cp "$web/languages.conf" start
for document in $(cd "$web" && find documents -name '*.html'); do
  mkdir -p "${document%/*}"
  sed -e "$parts" -e "s|@ATAJO_PUBLIC_URL@|$public_url|g" -e "s|@ATAJO_CONTACT@|$contact|g" \
    -e "s|@ATAJO_SERVICE_WORKER@|$service_worker|g" -e "s|@ATAJO_REGISTRATION@|$registration|g" \
    -e "s|@ATAJO_GUEST_LINKS@|$guest_links|g" -e "s|@ATAJO_ADMIN_PAGES@|$admin_pages|g" \
    -e "s|@ATAJO_DOMAINS@|$(printf '%s' "$further" | tr '\n' ' ')|g" -e "s|@ATAJO_OIDC_NAME@|$oidc_name|g" "$web/$document" >"$document"
  gzip -9 -n -c "$document" >"$document.gz"
  # nginx derives the ETag from time and size. Derived from the content, the time is the same on every
  # replica, and differs for other settings.
  touch -d "@$((0x$(sha256sum "$document" | cut -c 1-7)))" "$document" "$document.gz"
done

case " $* " in
*' -t '*) nginx -q -e stderr -p "$PWD/" -c probes.conf -t ;;
*) setpriv --pdeathsig TERM nginx -e stderr -p "$PWD/" -c probes.conf & ;;
esac
exec nginx -e stderr -p "$PWD/" -c nginx.conf "$@"
