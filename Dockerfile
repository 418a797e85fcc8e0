# The operator: Python and its packages, no JVM. From a clone, with an image builder alone:
#
#   docker build --tag REGISTRY/paimon-operator:TAG .
#
# PACKAGES=context is for a machine without a network: `make image-context` has put the wheels into the context.
# BASE_IMAGE may be any Debian 12, or any image with Python 3.11: where Python is there, apt-get is not asked.
ARG BASE_IMAGE=debian:bookworm-slim@sha256:96e378d7e6531ac9a15ad505478fcc2e69f371b10f5cdf87857c4b8188404716
ARG PACKAGES=network

FROM ${BASE_IMAGE} AS base
RUN python3 --version >/dev/null 2>&1 \
    || (apt-get update && apt-get install --yes --no-install-recommends python3 ca-certificates \
        && rm -rf /var/lib/apt/lists/*)

# Each package is one of those in the list, by its hash. --target leaves the base's Python alone.
FROM base AS packages-network
RUN python3 -m pip --version >/dev/null 2>&1 \
    || (apt-get update && apt-get install --yes --no-install-recommends python3-pip)
COPY tools/images/operator.txt /build/
RUN python3 -m pip install --quiet --no-cache-dir --require-hashes --no-deps --only-binary=:all: \
        --root-user-action=ignore --target=/opt/paimon-operator/python --requirement=/build/operator.txt

# pip runs out of its own wheel.
FROM base AS packages-context
COPY prefetched /build/prefetched
COPY tools/images/operator.txt /build/
RUN python3 /build/prefetched/pip.whl/pip install --quiet --no-cache-dir --no-index --require-hashes --no-deps \
        --find-links=/build/prefetched/wheels --root-user-action=ignore --target=/opt/paimon-operator/python \
        --requirement=/build/operator.txt

FROM packages-${PACKAGES} AS packages

# What the image consists of; `--target=sbom --output=type=local,dest=DIRECTORY` gives the file alone.
FROM base AS listed
COPY --from=packages /opt/paimon-operator/python /opt/paimon-operator/python
COPY tools/images/sbom.py tools/images/metadata.py pyproject.toml /build/
RUN python3 /build/metadata.py /build/pyproject.toml /build/app
ARG VERSION=unreleased
RUN python3 /build/sbom.py paimon-operator "${VERSION}" /opt/paimon-operator/python > /sbom.cdx.json

FROM scratch AS sbom
COPY --from=listed /sbom.cdx.json /

FROM base
LABEL org.opencontainers.image.title="paimon-operator" \
      org.opencontainers.image.description="Kubernetes operator for Apache Paimon tables" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN echo 'paimon-operator:x:185:0:Paimon operator:/tmp:/usr/sbin/nologin' >> /etc/passwd
# The operator's own code comes last: a change in it rebuilds and pushes one small layer.
COPY --from=packages /opt/paimon-operator/python /opt/paimon-operator/python
COPY --from=listed /sbom.cdx.json /opt/paimon-operator/sbom.cdx.json
COPY --from=listed /build/app /opt/paimon-operator/app
COPY operator /opt/paimon-operator/app
# glibc keeps freed blocks of up to 32 MiB, in pieces, if it may choose itself. Then the process grows for hours. So it
# returns those of 64 KiB and more, such as pages of lists.
ENV PYTHONPATH=/opt/paimon-operator/app:/opt/paimon-operator/python \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    MALLOC_MMAP_THRESHOLD_=65536 \
    MALLOC_TRIM_THRESHOLD_=131072
USER 185:0
ENTRYPOINT ["python3", "-m", "paimon_operator"]
