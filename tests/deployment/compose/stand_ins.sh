#!/usr/bin/env bash
# Builds stand-ins for caddy:2-alpine and mongo:8.0, for a machine that reaches no container registry.
# It needs Caddy 2.7 or later and mongod on the PATH, and the images debian:bookworm-slim and
# node:22-bookworm-slim.
set -euo pipefail

context=$(mktemp -d)
trap 'rm -r "$context"' EXIT

cp "$(type -P caddy)" "$(type -P mongod)" "$context"
cat >"$context/Dockerfile" <<'END'
FROM debian:bookworm-slim AS caddy
COPY caddy /usr/bin/
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
WORKDIR /srv
CMD ["caddy", "run"]

FROM node:22-bookworm-slim AS mongo
RUN apt-get update \
 && apt-get install -y --no-install-recommends libcurl4 \
 && npm install --global --no-audit --no-fund --loglevel=error mongosh
COPY mongod /usr/bin/
RUN groupadd --gid 999 --system mongodb \
 && useradd --uid 999 --system --gid mongodb --home-dir /data/db mongodb \
 && mkdir -p /data/db /data/configdb \
 && chown -R mongodb:mongodb /data
ENV HOME=/data/db
VOLUME ["/data/db", "/data/configdb"]
EXPOSE 27017
CMD ["mongod", "--bind_ip_all"]
END
docker build --target caddy --tag caddy:2-alpine "$context"
docker build --target mongo --tag mongo:8.0 "$context"
