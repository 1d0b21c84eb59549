"""The flow from files of recorded motion to a posterior and a version of a package.

    infer -> record and register

An inference that is repeated makes the same package; its version is found, and nothing is added.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.runtime import flow_run

from ricochet.flows.job_places import jobs_by_settings
from ricochet.flows.prefect_artifacts import link
from ricochet.flows.prefect_options import FLOW, ONCE, RETRIED
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import bar
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.interface import Inference, InferenceRequest
from ricochet.tasks.training.steps import Publication


@flow(name="infer", flow_run_name="infer {name}", **FLOW)
@jobs_by_settings
def infer(
    name: str,
    files: list[str],
    register_as: str,
    rate: float | None = None,
    predict: list[str] | None = None,
    given: dict[str, str] | None = None,
    numbers: dict[str, float] | None = None,
    out: str | None = None,
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
) -> dict[str, Any]:
    """Infer the parameters of recorded motions and register them.

    Args:
        name: A name that `ricochet infer` lists.
        files: Recorded motions.
        register_as: The package's name without its prefix.
        rate: Frames a second, for files that do not say.
        predict: Further motions.
        given: Files of the inference's own options, by name, such as `model`.
        numbers: Values of the inference's own options that are numbers; others take their defaults.
        out: Folder of the results; None takes `artifacts/infer/<name>`.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.

    Raises:
        BadInput: If a file cannot be used, or the inference withholds its package (`withheld`);
            `result.json` is written then too.
    """
    found = catalogue.inference(name)
    if found.kind is None:
        raise BadInput(f"infer {name}", "an inference without a package", "one that registers")
    package = found.kind.prefix + register_as
    found.kind.refuse(package)
    folder = Path("artifacts", "infer", name) if out is None else Path(out)
    with bar("particles") as progress:
        request = InferenceRequest(
            tuple(Path(file) for file in files),
            rate,
            tuple(Path(file) for file in predict or ()),
            catalogue.load_settings(params, overrides),
            folder,
            seed,
            progress,
            {option: Path(file) for option, file in (given or {}).items()},
            {each.name: each.default for each in found.numbers if each.default is not None}
            | (numbers or {}),
            package,
        )
        result = {**compute(found, request), "seed": seed}
    if "withheld" in result:
        write_json(output_folder(folder) / "result.json", result)
        raise BadInput(str(folder / "result.json"), result["withheld"], "a package to register")
    result |= record(found, package, folder, result).result
    write_json(output_folder(folder) / "result.json", result)
    return result


@task(name="infer", task_run_name="infer {found.name}", **ONCE)
def compute(found: Inference, request: InferenceRequest) -> Mapping[str, Any]:
    """Infer; write all files but `result.json`, whose content is returned."""
    return found.run(request)


@task(name="record and register", task_run_name="register {package}", **RETRIED)
def record(found: Inference, package: str, folder: Path, result: Mapping[str, Any]) -> Publication:
    """Record the result, register its package, and link the MLflow run."""
    if found.publish is None:
        raise ValueError(f"publish of {found.name} None, expected a function")
    published = found.publish(package, folder, result, str(flow_run.id or ""))
    link(published, f"{package}: MLflow run", key="mlflow-inference")
    return published
