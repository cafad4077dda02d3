# docker build -t safecheck .
# docker run --rm --network none --volume "$PWD:/plans:ro" safecheck PLAN..
FROM python:3.11-slim AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --wheel-dir /wheels ".[solve,graph]"

FROM python:3.11-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index --find-links /wheels "plansafe[solve,graph]" \
    && rm -r /wheels \
    && useradd --create-home checker
# Plans are read as another user than root, who may write nothing there.
USER checker
WORKDIR /plans
ENTRYPOINT ["safecheck"]
CMD ["--help"]
