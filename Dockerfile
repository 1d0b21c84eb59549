# One image for the MLflow server, the Prefect server and the worker. Its steps are the make targets
# of CI, and a test runs them in an empty folder; the image itself was not built where it was written.
FROM python:3.11-slim-bookworm

RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        git make libegl1 libgl1-mesa-dri libportaudio2 postgresql-client \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 ricochet \
    && install --directory --owner ricochet /app /app/artifacts /state /backups

USER ricochet
WORKDIR /app

COPY --chown=ricochet Makefile requirements.lock ./
RUN make packages
COPY --chown=ricochet . .
RUN make setup pull

ENV PATH=/app/.venv/bin:$PATH \
    RICOCHET_ARTIFACTS=/state/lab \
    PREFECT_HOME=/state/lab/prefect \
    PREFECT_SERVER_ANALYTICS_ENABLED=false \
    DO_NOT_TRACK=true \
    MLFLOW_DISABLE_TELEMETRY=true \
    DVC_NO_ANALYTICS=1 \
    MUJOCO_GL=egl \
    OMP_NUM_THREADS=1
VOLUME /state
CMD ["make", "help"]
