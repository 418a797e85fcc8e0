# The operator: Python and its packages, no JVM.
#
#   make image-context                                   # fetches the wheels into build/image-context/operator
#   docker build --tag REGISTRY/paimon-operator:TAG build/image-context/operator --file Dockerfile
#
# The build itself needs no network. BASE_IMAGE may be any image with Python 3.11 (the wheels are for that version).
ARG BASE_IMAGE=python:3.11-slim-bookworm

FROM ${BASE_IMAGE} AS packages
COPY pip.whl requirements.txt /build/
COPY wheels /build/wheels
# pip runs out of its own wheel, so the base needs none; --target leaves the base's Python alone.
RUN python3 /build/pip.whl/pip install --quiet --no-cache-dir --no-index --find-links=/build/wheels \
        --root-user-action=ignore --target=/opt/paimon-operator/python --requirement=/build/requirements.txt
COPY app /build/app
RUN python3 /build/pip.whl/pip install --quiet --no-cache-dir --no-index --no-deps \
        --root-user-action=ignore --target=/opt/paimon-operator/app /build/app/*.whl

FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="paimon-operator" \
      org.opencontainers.image.description="Kubernetes operator for Apache Paimon tables" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN echo 'paimon-operator:x:185:0:Paimon operator:/tmp:/usr/sbin/nologin' >> /etc/passwd
# The operator's own code comes last: a change in it rebuilds and pushes one small layer.
COPY --from=packages /opt/paimon-operator/python /opt/paimon-operator/python
COPY --from=packages /opt/paimon-operator/app /opt/paimon-operator/app
ENV PYTHONPATH=/opt/paimon-operator/app:/opt/paimon-operator/python \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
USER 185:0
ENTRYPOINT ["python3", "-m", "paimon_operator"]
