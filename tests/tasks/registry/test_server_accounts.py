"""What accounts get of the whole server, with MLflow's own permissions."""

import functools
import json
import time
import urllib.parse

import pytest

from ricochet.flows.servers import serving
from tests.flows.servers import alone
from tests.tasks.registry.test_server_authors import FILES
from tests.tasks.registry.test_server_ids import OTHER

pytestmark = pytest.mark.slow
API = "/api/2.0/mlflow"
QUERY = (
    "query Q($d: MlflowSearchModelVersionsInput!)"
    "{mlflowSearchModelVersions(input:$d){modelVersions{name} nextPageToken}}"
)


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """A server, asked as an account: `admin`, `writer`, or `denied`."""
    own = alone.with_logins(tmp_path_factory.mktemp("server"))
    with alone.running(serving.MLFLOW, own) as (address, _):
        ask = functools.partial(alone.ask, address)
        while not ask("admin", "/health")[0]:
            time.sleep(0.2)
        for name in ("writer", "denied"):
            user = {"username": name, "password": alone.PASSWORD}
            assert ask("admin", f"{API}/users/create", user)[0] == 200
        yield ask


def grant(ask, account, permission, kind, which):
    """Have an account have a permission to an experiment or a model."""
    given = {"username": account, "permission": permission}
    given |= {"resource_type": kind, "resource_id": which}
    assert ask("admin", "/api/3.0/mlflow/users/permissions/grant", given)[0] == 200


def made(ask, path, body, account="admin"):
    """Return the answer to what makes something."""
    status, answer = ask(account, f"{API}/{path}", body)
    assert status == 200, answer
    return json.loads(answer)


def test_who_may_write_to_an_experiment_changes_its_own_runs_there(ask):
    number = made(ask, "experiments/create", {"name": "written"})["experiment_id"]
    grant(ask, "writer", "MANAGE", "experiment", number)
    shown = {"experiment_id": number, "key": "mlflow.note.content", "value": "full"}
    for name, expected in (("admin", 200), ("writer", 403)):
        assert ask(name, f"{API}/experiments/set-experiment-tag", shown)[0] == expected
    for name, expected in (("admin", 403), ("writer", 200)):
        begun = {"experiment_id": number, "start_time": 1, "run_name": "a"}
        run = made(ask, "runs/create", begun, name)["run"]["info"]["run_id"]
        tag = {"run_id": run, "key": "ricochet.gate", "value": "passed"}
        assert ask("writer", f"{API}/runs/set-tag", tag)[0] == expected
        ended = {"run_id": run, "status": "FINISHED"}
        assert ask("writer", f"{API}/runs/update", ended)[0] == expected
        file = f"{FILES}/{number}/{run}/artifacts/a"
        assert ask("writer", file, {}, method="PUT")[0] == expected
        upload = f"/ajax-api/2.0/mlflow/upload-artifact?run_uuid={run}&path=b"
        assert ask("writer", upload, {})[0] == 404
        assert ask("writer", file)[0] == (404 if name == "admin" else 200)
        assert ask("writer", f"{API}/runs/delete", {"run_id": run})[0] == expected


def test_an_account_that_is_denied_an_experiment_finds_it_by_no_spelling(ask):
    grant(ask, "denied", "DENY", "experiment", "0")
    begun = {"experiment_id": "0", "start_time": 1, "run_name": "secret"}
    run = made(ask, "runs/create", begun)["run"]["info"]["run_id"]
    data = {"name": "secret", "digest": "a", "source_type": "local", "source": "{}"}
    made(ask, "runs/log-inputs", {"datasets": [{"dataset": data}], "run_id": run})
    for path in ("runs/search", "experiments/search-datasets"):
        assert b"secret" in ask("admin", f"/ajax-{API[1:]}/{path}", {"experiment_ids": ["0"]})[1]
    for number in ("0", *OTHER):
        for path, body in (
            ("/runs/search", {"experiment_ids": [number]}),
            (f"/experiments/get?experiment_id={urllib.parse.quote(number)}", None),
            ("/experiments/search-datasets", {"experiment_ids": [number]}),
        ):
            for prefix in (API, f"/ajax-{API[1:]}"):
                status, answer = ask("denied", f"{prefix}{path}", body)
                assert b"secret" not in answer and b"Default" not in answer
                assert status >= 400 or json.loads(answer) == {}, (number, path)


def test_a_denied_account_counts_by_no_token_what_is_hidden(ask):
    """A filter fits something hidden or not."""
    for name in ("hidden-a", "hidden-b"):
        _hide(ask, name)
    for who, sees in (("admin", True), ("denied", False)):
        for path, words in _lists():
            fits, fails = (_list(ask, who, path, words, word) for word in ("acme", "axme"))
            assert fits[0] == fails[0] == 200, (path, fits, fails)
            assert (fits[1] != fails[1]) == sees, (who, path, fits, fails)


def test_no_list_takes_half_an_escape(ask):
    """It is an error to PostgreSQL where something hidden begins so."""
    for path, words in _lists(end="\\"):
        status, answer = _list(ask, "denied", path, words, "acme")
        refused = status == 400 or b'"errors"' in answer  # as a question in GraphQL
        assert refused and b"half an escape" in answer, (path, status, answer)


def _lists(end="%"):
    """Yield paths of lists, each with a filter for a word of a hidden text."""
    words = {"max_results": 1, "filter": f"tags.note LIKE '%WORD{end}'"}
    for kind in ("model-versions", "registered-models"):
        yield f"{API}/{kind}/search?{urllib.parse.urlencode(words)}", None
    either = words | {"filter": f"tags.note LIKE '%e%' AND {words['filter']}"}
    yield f"{API}/experiments/search", either
    data = {"d": {"maxResults": 1, "filter": words["filter"]}}
    yield "/graphql", {"query": QUERY, "variables": data}


def _list(ask, who, path, body, word):
    """Ask for a list, WORD being a word."""
    asked = json.loads(json.dumps(body).replace("WORD", word))
    return ask(who, path.replace("WORD", word), asked)


def _hide(ask, name):
    """Make an experiment and a model with two versions, and deny them."""
    tags = [{"key": "note", "value": "for acme"}]
    number = made(ask, "experiments/create", {"name": name})["experiment_id"]
    made(ask, "experiments/set-experiment-tag", {"experiment_id": number, **tags[0]})
    made(ask, "registered-models/create", {"name": name, "tags": tags})
    run = made(ask, "runs/create", {"experiment_id": number})["run"]["info"]
    source = f"{run['artifact_uri']}/package"
    for _ in range(2):
        version = {"name": name, "source": source, "run_id": run["run_id"], "tags": tags}
        made(ask, "model-versions/create", version)
    grant(ask, "denied", "DENY", "experiment", number)
    grant(ask, "denied", "DENY", "registered_model", name)
