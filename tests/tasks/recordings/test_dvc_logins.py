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
@pytest.mark.parametrize(
    "word", ["password", "secret_access_key", "session_token", "sas_token", "sse_customer_key"]
)
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


@pytest.mark.parametrize("word", ["ssl_verify = false", "port = 26", "use_ssl = false", "acl = a"])
def test_git_says_nothing_of_how_a_login_goes(place, word):
    git = place / "config"
    git.write_text(f"{REMOTE}    url = https://a\n    jobs = 2\n    {word}\n")
    (place / "config.local").write_text(f"{REMOTE}    password = a\n    url = https://a\n")
    with pytest.raises(BadInput, match=f"whose {word.partition(' ')[0]} is in config"):
        dvc_logins.refuse_lent(place)
    git.write_text(f"{REMOTE}    url = https://a\n    jobs = 2\n")
    dvc_logins.refuse_lent(place)


@pytest.mark.parametrize("file", ["config", "config.local", "global"])
@pytest.mark.parametrize("url", ["remote://lab/a", "REMOTE://lab"])
def test_no_remote_is_described_by_another(place, file, url):
    (place / file).write_text(f"['remote \"other\"']\n    url = {url}\n")
    with pytest.raises(BadInput, match=r"remote:// for the url of the remote other"):
        dvc_logins.refuse_lent(place)


@pytest.mark.parametrize("url", ["gs://a", "azure://a", "webdavs://a/b", "hdfs://a"])
def test_git_brings_no_way_to_ask_with_logins_of_the_environment(place, url):
    (place / "config").write_text(f"{REMOTE}    url = {url}\n")
    with pytest.raises(BadInput, match="for the url of the remote lab"):
        dvc_logins.refuse_lent(place)
    (place / "config").write_text("")
    (place / "config.local").write_text(f"{REMOTE}    url = {url}\n")
    dvc_logins.refuse_lent(place)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("endpointurl = http://192.0.2.2", "plain http to 192.0.2.2"),
        ("endpointurl = https://a:b@lab.example", "a login in the address"),
        ("use_ssl = False", "use_ssl of the remote lab: found false"),
    ],
)
def test_s3_is_asked_over_https_or_on_this_machine(place, words, said):
    (place / "config").write_text(f"{REMOTE}    url = s3://a/b\n    {words}\n")
    with pytest.raises(BadInput, match=said):
        dvc_logins.refuse_lent(place)
    for right in ("endpointurl = https://lab.example", "endpointurl = http://127.0.0.1:9"):
        (place / "config").write_text(f"{REMOTE}    url = s3://a/b\n    {right}\n")
        dvc_logins.refuse_lent(place)


def test_what_git_brings_counts_over_the_settings_of_a_user(place):
    for url, refused in (("https://b", True), ("https://a", False)):
        (place / "global").write_text(f"{REMOTE}    password = a\n    url = {url}\n")
        if refused:
            with pytest.raises(BadInput, match="whose url is in config"):
                dvc_logins.refuse_lent(place)
        else:
            dvc_logins.refuse_lent(place)
