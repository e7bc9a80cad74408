# nginx with the built pages. deploy/nginx/start.sh documents its settings.
ARG NODE_IMAGE=node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c
ARG PYTHON_IMAGE=python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b
ARG NGINX_IMAGE=nginxinc/nginx-unprivileged:stable-bookworm@sha256:cd33960e98e93d4d63385790ff7f8f5bf2ca95184c581b7f42ae8aea1139fbfc

FROM ${NODE_IMAGE} AS pages
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
COPY web/ ./
COPY docs/reference/openapi.json /src/docs/reference/
RUN npm run --silent build

# Prepare the pages for nginx with the gateway's code, which needs no packages for that.
FROM ${PYTHON_IMAGE} AS layout
WORKDIR /src
COPY gateway/ gateway/
COPY services/ services/
COPY deploy/ deploy/
COPY --from=pages /src/web/dist/ dist/
COPY LICENSE /srv/atajo/
COPY deploy/nginx/ /srv/atajo/
RUN python -m gateway.nginx.webroot dist /srv/atajo/web \
 && chmod -R a+rX /srv/atajo && chmod a+x /srv/atajo/start.sh

FROM ${NGINX_IMAGE}
COPY --from=layout /srv/atajo /srv/atajo
USER 101:101
EXPOSE 8080 9090
STOPSIGNAL SIGQUIT
ENTRYPOINT ["/srv/atajo/start.sh"]
CMD []
# Last, because it changes with every commit.
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Atajo web" \
      org.opencontainers.image.description="nginx with the pages of Atajo, a link shortener" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
