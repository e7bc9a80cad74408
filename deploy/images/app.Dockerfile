# All Python processes. The command selects one: python -m gateway, python -m services.auth.
ARG PYTHON_IMAGE=python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b

FROM ${PYTHON_IMAGE} AS build
WORKDIR /app
COPY requirements.txt /tmp/
RUN python -m venv --without-pip /venv \
 && pip --no-cache-dir --disable-pip-version-check --python /venv/bin/python \
      install --no-compile --require-hashes --requirement /tmp/requirements.txt
COPY services/ services/
COPY gateway/ gateway/
COPY proto/gen/ proto/gen/
COPY deploy/edge.toml deploy/
# Compile here, because the root file system is read-only at run time.
RUN chmod -R a+rX . \
 && python -m compileall -q -j 0 --invalidation-mode unchecked-hash /venv /app

FROM ${PYTHON_IMAGE}
# pip is not needed any more.
RUN cd / && rm -rf usr/bin/pip* usr/local/bin/pip* usr/local/bin/wheel usr/share/python-wheels \
      usr/lib/python3*/ensurepip usr/local/lib/python3*/ensurepip \
      usr/lib/python3/dist-packages/* usr/local/lib/python3*/site-packages/*
COPY --from=build /venv /venv
COPY --from=build /app /app
COPY LICENSE /app/
WORKDIR /app
ENV PATH=/venv/bin:${PATH} \
    PYTHONPATH=/app:/app/proto/gen \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 10001:10001
CMD ["python", "-m", "gateway"]
# Last, because it changes with every commit.
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Atajo" \
      org.opencontainers.image.description="Gateway and services of Atajo, a link shortener" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV ATAJO_VERSION=${VERSION}
