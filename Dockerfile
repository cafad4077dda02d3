# docker build -t safecheck .
# docker run --rm --network none --volume "$PWD:/plans:ro" safecheck PLAN..
FROM python:3.11-slim AS build
WORKDIR /src
COPY . .
RUN python -m venv /opt/safecheck && /opt/safecheck/bin/pip install --no-cache-dir ".[solve,graph]"

FROM python:3.11-slim
# The environment alone: neither sources nor what was needed to build them are in the image.
COPY --from=build /opt/safecheck /opt/safecheck
RUN useradd --create-home --uid 10001 checker
ENV PATH=/opt/safecheck/bin:$PATH
# Plans are read as another user than root, who may write nothing there; by number, so that a cluster sees that.
USER 10001
WORKDIR /plans
ENTRYPOINT ["safecheck"]
CMD ["--help"]
