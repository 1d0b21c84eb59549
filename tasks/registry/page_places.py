"""Places within MLflow's pages, which stand behind the address of any server of it."""

TRAINING = "workflowType=machine_learning"
"""What makes MLflow show its pages for training, not those for language models."""
MODELS = f"#/models?{TRAINING}"
RUNS = f"#/experiments?{TRAINING}"


def of_run(experiment_id: str, run_id: str) -> str:
    """Return the place of a run's page."""
    return f"#/experiments/{experiment_id}/runs/{run_id}?{TRAINING}"


def of_version(name: str, version: str | int) -> str:
    """Return the place of the page of a registered version."""
    return f"#/models/{name}/versions/{version}?{TRAINING}"
