"""A DVC remote that somebody else writes to changes no file but its own, and no recording."""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest

from ricochet.tasks.recordings import dvc_commands, dvc_program, dvc_publish
from tests.tasks.recordings.remotes import CONFIG

EVIL = b"evil\n"


def objects(root):
    return root / "store" / "files" / "md5"


def listed(root):
    """Return the place of the list of all files in the remote, and what it holds."""
    (place,) = objects(root).rglob("*.dir")
    return place, json.loads(place.read_text())


def put(root, content, suffix=""):
    """Put a file into the remote, as its owner may; returns its digest."""
    digest = hashlib.md5(content).hexdigest()
    place = objects(root) / digest[:2] / (digest[2:] + suffix)
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(content)
    return digest


def exchange(root, entries, *, named=False):
    """Exchange the list, under the name of the old one or under its own, which data.dvc names."""
    place, _ = listed(root)
    text = json.dumps(entries, sort_keys=True).encode()
    if not named:
        place.chmod(0o644)
        place.write_bytes(text)
        return
    digest, old = put(root, text, ".dir"), place.parent.name + place.name
    data = (root / "data.dvc").read_text()
    (root / "data.dvc").write_text(data.replace(old, f"{digest}.dir"))


def tree(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "store" not in path.parts and "tmp" not in path.parts
    }


@pytest.mark.proof
@pytest.mark.parametrize("named", [False, True], ids=["exchanged", "committed"])
@pytest.mark.parametrize("path", ["../../outside", "/outside", "../.git/hooks/post-checkout"])
def test_a_list_that_leads_elsewhere_is_refused_before_anything_is_written(root, path, named):
    _, entries = listed(root)
    path = f"{root.parent}{path}" if path.startswith("/") else path
    exchange(root, [*entries, {"md5": put(root, EVIL), "relpath": path}], named=named)
    before = tree(root.parent)
    expected = "expected plain names" if named else "found another list of files"
    with pytest.raises(dvc_publish.PublicationError, match=expected) as caught:
        dvc_publish.pull(root)
    assert "\n" not in str(caught.value)
    assert tree(root.parent) == {**before, **lists(root)}


def lists(root):
    """Return what a cache may hold of a remote that is refused: the list, which no one reads."""
    return {name: data for name, data in tree(root.parent).items() if name.endswith(".dir")}


@pytest.mark.slow
@pytest.mark.parametrize("ups", [2, pytest.param(4, marks=pytest.mark.proof)])
def test_a_digest_that_is_a_path_is_refused(root, ups):
    """It led out of the cache, and had the file there written over, or removed."""
    _, entries = listed(root)
    digest = "aa" + "/.." * ups + "/mine"
    place = os.path.normpath(f"{root}/.dvc/cache/files/md5/aa/{'/..' * ups}/mine")
    entries.append({"md5": digest, "relpath": "first/mine"})
    exchange(root, entries, named=True)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w") as file:
        file.write("my own")
    with pytest.raises(dvc_publish.PublicationError, match="expected hexadecimal digits"):
        dvc_publish.pull(root)
    with open(place) as file:
        assert file.read() == "my own"


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        "a pipe",
        pytest.param("a folder", marks=pytest.mark.proof),
        pytest.param("a device", marks=pytest.mark.proof),
    ],
)
def test_a_list_that_is_no_file_is_refused_at_once(root, kind):
    place, _ = listed(root)
    place.unlink()
    match kind:
        case "a pipe":
            os.mkfifo(place)
        case "a folder":
            place.mkdir()
        case "a device":
            place.symlink_to("/dev/zero")
    with pytest.raises(dvc_publish.PublicationError, match="checkout"):
        dvc_publish.pull(root)
    assert not (root / "data").exists()


@pytest.mark.slow
def test_a_recording_that_is_a_pipe_is_not_waited_for(root):
    (sound,) = [each for each in listed(root)[1] if each["relpath"].endswith("flac")]
    place = objects(root) / sound["md5"][:2] / sound["md5"][2:]
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(dvc_publish.PublicationError, match="found no regular file"):
        dvc_publish.pull(root)


@pytest.mark.slow
def test_a_recording_that_was_exchanged_is_not_taken(root):
    (sound,) = [each for each in listed(root)[1] if each["relpath"].endswith("flac")]
    place = objects(root) / sound["md5"][:2] / sound["md5"][2:]
    place.chmod(0o644)
    place.write_bytes(place.read_bytes()[::-1])
    with pytest.raises(dvc_publish.PublicationError, match="checkout"):
        dvc_publish.pull(root)
    assert not (root / "data" / sound["relpath"]).exists()


@pytest.mark.slow
@pytest.mark.parametrize("home", ["one's own", "everybody's"])
def test_dvc_remembers_where_nobody_else_may_write(root, tmp_path, home):
    """Its own place is `/var/tmp/dvc`, where all may rename, and what lies there may be code."""
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(0o755 if home == "one's own" else 0o777)
    seen = """
import os
from ricochet.tasks.recordings import dvc_program
dvc_program.remember_apart()
from dvc.repo import Repo
place = Repo().site_cache_dir
print(os.environ["DVC_SITE_CACHE_DIR"], os.stat(os.environ["DVC_SITE_CACHE_DIR"]).st_mode & 0o777)
print(place)
"""
    own = {key: each for key, each in os.environ.items() if key != dvc_program.MEMORY}
    own |= {"XDG_CACHE_HOME": str(cache), **dvc_commands.QUIET}
    done = subprocess.run(
        [sys.executable, "-c", seen], cwd=root, env=own, capture_output=True, text=True, check=True
    )
    (place, mode), inner = done.stdout.splitlines()[0].split(), done.stdout.splitlines()[1]
    assert int(mode) == 0o700 and inner.startswith(place)
    assert place.startswith(str(cache)) == (home == "one's own")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        ("data", ".git", "data/hooks/post-index-change"),
        pytest.param("a", "../home", "a/b/new", marks=pytest.mark.proof),
    ],
)
def test_what_is_fetched_goes_by_no_link_that_came_with_a_clone(root, link, target, path):
    digest = put(root, EVIL)
    outs = f"- md5: {digest}\n  size: {len(EVIL)}\n  hash: md5\n  isexec: true\n  path: {path}\n"
    (root / "data.dvc").write_text(f"outs:\n{outs}")
    (root.parent / "home" / "b").mkdir(parents=True)
    (root / link).symlink_to(target)
    before = tree(root.parent)
    with pytest.raises(dvc_publish.PublicationError, match="a link on its way"):
        dvc_publish.pull(root)
    assert tree(root.parent) == before


@pytest.mark.slow
def test_a_host_of_a_clone_puts_no_words_into_a_command(root, tmp_path):
    pytest.importorskip("dvc_ssh")
    words = f"ssh://a@h -oProxyCommand='touch {tmp_path}/ran' b/x"
    (root / ".dvc" / "config").write_text(CONFIG.replace("../store", f'"{words}"'))
    with pytest.raises(dvc_publish.PublicationError, match="no name of a host or a user"):
        dvc_publish.pull(root)
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_what_others_put_into_a_cache_is_compared(root):
    if os.geteuid() != 0:
        pytest.skip("only root may give a file away")
    (root / ".dvc" / "config").write_text(f"{CONFIG}[cache]\n    dir = ../../shared\n")
    dvc_publish.pull(root)
    recording = next((root / "data").rglob("*.flac"))
    digest = hashlib.md5(recording.read_bytes()).hexdigest()
    place = root.parent / "shared" / "files" / "md5" / digest[:2] / digest[2:]
    place.chmod(0o644)
    place.write_bytes(EVIL)
    place.chmod(0o444)  # by which DVC knows what has been compared
    os.chown(place, 65534, 65534)
    shutil.rmtree(root / "data")
    with pytest.raises(dvc_publish.PublicationError, match="another file in the cache"):
        dvc_publish.pull(root)
    assert all(each.read_bytes() != EVIL for each in (root / "data").rglob("*.flac"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        "path: data\n  repo:\n    url: {0}/other\n",
        pytest.param("path: s3://bucket/data\n", marks=pytest.mark.proof),
    ],
)
def test_nothing_is_imported_whose_settings_nobody_has_looked_at(root, source, tmp_path):
    (root / "data.dvc").write_text(
        f"frozen: true\ndeps:\n- {source.format(tmp_path)}"
        f"outs:\n- md5: {hashlib.md5(EVIL).hexdigest()}\n  hash: md5\n  path: data\n"
    )
    with pytest.raises(dvc_publish.PublicationError, match="found an import"):
        dvc_publish.pull(root)
