"""A login for a DVC remote stands beside its address, or nothing is sent it."""

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import dvc_logins

REMOTE = "['remote \"lab\"']\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(dvc_logins, "_everywhere", lambda: iter([tmp_path / "global"]))
    (tmp_path / "config").write_text(f"[core]\n    remote = lab\n{REMOTE}    url = https://a\n")
    return tmp_path


@pytest.mark.parametrize("file", ["config.local", "global"])
@pytest.mark.parametrize("word", ["password", "secret_access_key", "session_token", "sas_token"])
def test_a_login_without_its_address_is_refused(place, file, word):
    for title in (REMOTE, '[remote "LAB"]\n'):
        (place / file).write_text(f"{title}    {word} = a\n")
        with pytest.raises(BadInput, match=r"login of the remote lab, whose url is in config"):
            dvc_logins.refuse_lent(place)
    (place / file).write_text(f"{REMOTE}    {word} = a\n    url = https://a\n")
    dvc_logins.refuse_lent(place)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://192.0.2.2/a", "plain http to 192.0.2.2"),
        ("http://user:secret@127.0.0.1:9", "a login in the address"),
        ("https://user:secret@lab.example/a", "a login in the address"),
    ],
)
def test_a_login_goes_over_https_or_to_this_machine(place, url, said):
    (place / "config.local").write_text(f"{REMOTE}    password = a\n    url = {url}\n")
    with pytest.raises(BadInput, match=said):
        dvc_logins.refuse_lent(place)
    for right in (
        "https://lab.example/a",
        "http://127.0.0.1:9/a",
        "ssh://user@lab.example/a",
        "../a",
    ):
        (place / "config.local").write_text(f"{REMOTE}    password = a\n    url = {right}\n")
        dvc_logins.refuse_lent(place)


def test_each_word_of_an_address_stands_beside_it(place):
    (place / "config").write_text(f"{REMOTE}    url = s3://a\n    endpointurl = https://b\n")
    (place / "config.local").write_text(f"{REMOTE}    secret_access_key = a\n    url = s3://a\n")
    with pytest.raises(BadInput, match="whose endpointurl is in config"):
        dvc_logins.refuse_lent(place)


@pytest.mark.parametrize(
    "own",
    ["", REMOTE, f"{REMOTE}    keyfile = a\n    user = b\n    ask_password = true\n", "[core]\n"],
)
def test_what_is_no_login_may_stand_alone(place, own):
    (place / "config.local").write_text(own)
    dvc_logins.refuse_lent(place)


def test_a_login_of_a_remote_that_git_does_not_name_is_one_s_own(place):
    (place / "config.local").write_text('[remote "own"]\n    url = https://c\n    password = a\n')
    dvc_logins.refuse_lent(place)
