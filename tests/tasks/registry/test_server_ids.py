"""An experiment has one number, by which its permissions are found too."""

import base64
import inspect
import json
import re
import time
import urllib.error
import urllib.request

import pytest
from mlflow.exceptions import MlflowException
from mlflow.server import handlers
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

from ricochet.flows.servers import serving
from ricochet.tasks.registry import server_ids
from tests.flows.servers import alone
from tests.stores import NAME, copied

OTHER = ["00", "+0", " 0", "0 ", "0.0", "-0", "0_0", "\u0660", "", "0x0", "1e0", "9" * 20]


@pytest.fixture(scope="module")
def store(migrated_store, tmp_path_factory):
    """The store of a server; it keeps a thread of its own."""
    folder = tmp_path_factory.mktemp("runs")
    database = copied(migrated_store, folder / "store") / NAME
    found = SqlAlchemyStore(f"sqlite:///{database}", (folder / "artifacts").as_uri())
    server_ids.bound(found)
    yield found
    found.engine.dispose()


def takes(name):
    """Say whether a method of a store takes numbers of experiments."""
    parameters = inspect.signature(getattr(SqlAlchemyStore, name)).parameters
    return bool({"experiment_id", "experiment_ids"} & parameters.keys())


@pytest.mark.parametrize("number", OTHER)
def test_a_number_in_another_form_is_no_experiment(store, number):
    asks = (
        lambda: store.search_runs([number], "", 3),
        lambda: store.search_runs(["0", number], "", 3),
        lambda: store.get_experiment(number),
        lambda: store.search_datasets([number]),
        lambda: store._search_datasets([number]),
        lambda: store.create_run(number, "user", 1, [], "a"),
        lambda: store.delete_experiment(experiment_id=number),
    )
    for ask in asks:
        with pytest.raises(MlflowException, match="expected its number") as caught:
            ask()
        assert caught.value.get_http_status_code() == 400
    assert store.search_runs(["0"], "", 3) == [] and store.get_experiment("0").name == "Default"


def test_each_method_that_the_server_calls_with_a_number_looks_at_it(store):
    called = set(re.findall(r"store(?:\(\))?\.(_\w+)", inspect.getsource(handlers)))
    private = [name for name in called if hasattr(SqlAlchemyStore, name) and takes(name)]
    assert private == list(server_ids.ASKED)
    assert "_search_datasets" in vars(store)


def test_each_public_method_that_takes_a_number_looks_at_it(store):
    found = 0
    for name in dir(SqlAlchemyStore):
        method = getattr(SqlAlchemyStore, name)
        if name.startswith("_") or not callable(method):
            continue
        if takes(name):
            assert name in vars(store), name
            found += 1
    assert found > 20


@pytest.mark.slow
def test_an_account_that_is_denied_an_experiment_finds_it_by_no_spelling(tmp_path):
    """The whole server, with MLflow's own permissions."""
    with alone.running(serving.MLFLOW, alone.with_logins(tmp_path)) as (address, _):

        def ask(name, path, body=None):
            login = base64.b64encode(f"{name}:of-the-lab-alone".encode()).decode()
            heads = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}
            data = None if body is None else json.dumps(body).encode()
            try:
                asked = urllib.request.Request(f"http://{address}{path}", data, heads)
                with urllib.request.urlopen(asked, timeout=60) as answer:
                    return answer.status, answer.read()
            except urllib.error.HTTPError as error:
                return error.code, error.read()
            except OSError:
                return 0, b""

        mlflow = "/api/2.0/mlflow"
        while not ask("admin", "/health")[0]:
            time.sleep(0.2)
        user = {"username": "person", "password": "of-the-lab-alone"}
        assert ask("admin", f"{mlflow}/users/create", user)[0] == 200
        grant = {"username": "person", "resource_type": "experiment", "resource_id": "0"}
        denied = grant | {"permission": "DENY"}
        assert ask("admin", "/api/3.0/mlflow/users/permissions/grant", denied)[0] == 200
        begun = {"experiment_id": "0", "start_time": 1, "run_name": "secret"}
        assert ask("admin", f"{mlflow}/runs/create", begun)[0] == 200
        run = json.loads(ask("admin", f"{mlflow}/runs/search", {"experiment_ids": ["0"]})[1])
        data = {"name": "secret", "digest": "a", "source_type": "local", "source": "{}"}
        data = {"datasets": [{"dataset": data}], "run_id": run["runs"][0]["info"]["run_id"]}
        assert ask("admin", f"{mlflow}/runs/log-inputs", data)[0] == 200
        assert b"secret" in ask("admin", f"{mlflow}/runs/search", {"experiment_ids": ["0"]})[1]
        for number in ("0", *OTHER):
            for path, body in (
                ("/runs/search", {"experiment_ids": [number]}),
                (f"/experiments/get?experiment_id={urllib.request.quote(number)}", None),
                ("/experiments/search-datasets", {"experiment_ids": [number]}),
            ):
                for prefix in (mlflow, f"/ajax-{mlflow[1:]}"):
                    status, answer = ask("person", f"{prefix}{path}", body)
                    assert b"secret" not in answer and b"Default" not in answer
                    assert status >= 400 or json.loads(answer) == {}, (number, path)
