"""A lab's file: what it may say, and what is refused in one line."""

from pathlib import Path

import pytest

from ricochet.flows import cli
from ricochet.flows.servers import lab
from ricochet.models.core.bad_input import BadInput

ROOT = Path(__file__).resolve().parents[3]


def load(folder, text):
    file = folder / "lab.yaml"
    file.write_text(text)
    return lab.load(file)


def test_an_empty_file_is_a_lab_on_loopback_that_asks_who_comes(tmp_path):
    found = load(tmp_path, "{}")
    assert found.host == "127.0.0.1" and found.login
    assert found.secrets_folder == found.state / "secrets"


def test_paths_are_relative_to_the_file(tmp_path):
    found = load(tmp_path, "state: here\nsecrets: ../keys\nartifact_store: files")
    assert found.state == tmp_path / "here"
    assert found.secrets_folder == tmp_path.parent / "keys"
    assert found.artifact_store == str(tmp_path / "files")


def test_names_may_have_a_port_and_stores_lie_in_s3(tmp_path):
    stated = "names: [lab.example.org, 'lab-2:5000', 'lab:*', a]\nartifact_store: s3://my-lab/a/b"
    found = load(tmp_path, f"{stated}\nlogin: yes")
    assert len(found.names) == 4 and found.artifact_store == "s3://my-lab/a/b" and found.login


def test_the_example_in_the_documentation_is_one():
    found = lab.load(ROOT / "docs" / "lab.yaml")
    assert found.login and found.mlflow_database and found.prefect_database


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mlflow_prt: 1", "nearest is 'mlflow_port'"),
        ("mlflow_port: 70000", "mlflow_port: found 70000, expected less than or equal to 65535"),
        ("state: 5", "state: found 5, expected a path"),
        ("login: perhaps", "login: found 'perhaps', expected true or false"),
        ("names: lab", "names: found 'lab', expected a list"),
        ("names: ['*']", "found '\\*', expected host names"),
        ("names: ['a b']", "found 'a b', expected host names"),
        ("mlflow_database: postgresql://a:b@c/d", "found a password, expected an address without"),
        ("mlflow_database: postgresql://c/d?password=b", "found a password"),
        ("mlflow_database: postgresql://c/d?pass%77ord=b", "found a password"),
        ("mlflow_database: postgresql://c/d?sslmode=verify-ca&PASSWORD=b", "found a password"),
        ("mlflow_database: 'postgresql://c/d#?password=b'", "found a password"),
        ("mlflow_database: postgresql://c/d?hostaddr=192.0.2.1", "expected no words but sslmode="),
        ("prefect_database: postgresql://c/d?sslmode=disable", "expected no words but sslmode="),
        ("mlflow_database: 'postgresql://c/d#e'", "expected postgresql://USER@HOST"),
        ("artifact_store: 's3://KEY:SECRET@bucket'", "found a key, expected an address without"),
        ("artifact_store: s3:bucket", "expected a folder or s3://bucket"),
        ("artifact_store: s3://KEY:SECRET/bucket", "expected a folder or s3://bucket"),
        ("names: ['[a-z0-9]*']", "expected host names"),
        ("names: ['a*']", "found 'a\\*', expected host names"),
        ("names: ['?']", "expected host names"),
        ("names: ['a:b']", "expected host names"),
        ("login: 'no'", "login: found 'no', expected true or false"),
        ("behind_proxy: 1", "behind_proxy: found 1, expected true or false"),
        ("mlflow_port: true", "mlflow_port: found True, expected a valid integer"),
        ("prefect_database: mysql://c/d", "expected postgresql://USER@HOST"),
        ("prefect_database: postgresql://c", "expected postgresql://USER@HOST"),
        ("prefect_database: 'postgresql://c:x/d'", "no address, expected postgresql://USER@HOST"),
        ("artifact_store: sftp://a/b", "expected a folder or s3://bucket"),
        ("state: ''", "state: found ., expected the name of a folder"),
        ('state: "a\\0b"', "expected the name of a folder"),
        ('secrets: "a\\nb"', "secrets: found 'a.*b', expected the name of a folder"),
        ("secrets: ~nobody-here/a", "secrets: found ~nobody-here/a, expected the name of a folder"),
        ("artifact_store: ~nobody-here", "artifact_store: found ~nobody-here, expected the name"),
        (f"state: {'a' * 5000}", "state: found a.*characters"),
        ("host: 0.0.0.0", "0.0.0.0 without an encrypting proxy, expected loopback"),
        ("host: 0.0.0.0\nbehind_proxy: true\nlogin: false", "0.0.0.0 without a login"),
        ("[1]", "found list, expected keys with values"),
        ("", "found an empty file, expected keys with values"),
        ("# nothing yet", "found an empty file, expected keys with values"),
        ("a: [", "found no YAML"),
        ("a: !!python/object:os.system {}", "found no YAML"),
        ("\x00", "found no YAML"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(tmp_path, text, expected):
    with pytest.raises(BadInput, match=expected) as error:
        load(tmp_path, text)
    assert "\n" not in str(error.value)


def test_a_file_that_is_none_is_refused(tmp_path):
    for path in (tmp_path / "absent", tmp_path, Path("/dev/zero")):
        with pytest.raises(BadInput):
            lab.load(path)


def test_up_does_not_listen_on_a_network_without_a_login(tmp_path, capsys):
    words = ["up", "--host", "0.0.0.0", "--state", str(tmp_path), "--out", str(tmp_path / "out")]
    assert cli.main(words) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "0.0.0.0 without a login, expected loopback" in said
    assert not (tmp_path / "secrets").exists()
