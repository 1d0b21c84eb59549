"""What a remote lists is read so far as a remote of ten years goes, and no farther."""

import contextlib
import itertools
import subprocess
import sys
from types import SimpleNamespace

import pytest

from ricochet.tasks.recordings import dvc_listed
from tests.tasks.recordings import false_ssh
from tests.tasks.recordings.test_web_remotes import Answer, serving

PLACE = "/srv/store/files/md5"
FILE, FOLDER = 0o100644, 0o40755
LIMITED = """
import sys
from ricochet.tasks.recordings import dvc_listed, dvc_program
dvc_listed.MOST = int(sys.argv.pop(1))
code = dvc_program.main()
print(next(row for row in open("/proc/self/status") if row.startswith("VmHWM:")).split()[1])
sys.exit(code)
"""


@pytest.fixture
def found(monkeypatch):
    """Return the names that DVC finds over SSH below a place, whose entries a function gives."""
    asyncssh = pytest.importorskip("asyncssh")
    kind = pytest.importorskip("sshfs").SSHFileSystem
    local = pytest.importorskip("dvc_objects.fs.local").FsspecLocalFileSystem
    monkeypatch.setattr(local, "ls", local.ls)
    monkeypatch.setattr(dvc_listed, "MOST", 1000)
    for name in ("_ls", "_find"):
        monkeypatch.setattr(kind, name, getattr(kind, name))
    dvc_listed._bound_ssh(dvc_listed._Lists())

    class Channel:
        def __init__(self, entries):
            self.entries = entries

        async def scandir(self, path):
            for name, mode in self.entries(path):
                yield asyncssh.SFTPName(name, attrs=asyncssh.SFTPAttrs(permissions=mode))

    class Pool:
        def __init__(self, entries):
            self.entries = entries

        @contextlib.asynccontextmanager
        async def get(self):
            yield Channel(self.entries)

    def find(entries):
        system = kind.__new__(kind)
        system._pool = Pool(entries)
        return driven(kind._find(system, PLACE))

    return find


def driven(coroutine):
    """Run what waits for nothing, without a loop of its own."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")


def of_digests(path):
    """List folders of two digits, with three objects each."""
    if path == PLACE:
        return [(".", FOLDER), ("..", FOLDER), *((f"{each:02x}", FOLDER) for each in range(200))]
    return [(f"{each:030x}", FILE) for each in range(3)]


def test_all_objects_of_a_remote_are_found(found):
    names = found(of_digests)
    assert len(names) == len(set(names)) == 600
    assert names[0] == f"{PLACE}/00/{0:030x}"
    with refused("without end"):
        found(of_digests)  # in one process


def refused(said):
    from dvc.exceptions import DvcException

    return pytest.raises(DvcException, match=rf"^'{PLACE}[^\n]*found [^\n]*{said}[^\n]*$")


@pytest.mark.parametrize("mode", [FILE, FOLDER], ids=["files", "folders"])
def test_a_list_without_end_is_left(found, mode):
    given = itertools.count()
    with refused(r"without end.* 1000 entries"):
        found(lambda _: ((str(next(given)), mode) for _ in itertools.count()))
    assert next(given) <= 1002


def test_folders_below_those_of_digests_are_not_looked_into(found):
    asked = []
    assert found(lambda path: asked.append(path) or [("a", FOLDER)]) == []
    assert asked == [PLACE, f"{PLACE}/a"]


@pytest.mark.parametrize("letter", ["a", "\U0001f3b1"])
def test_names_are_short_one_by_one_and_together(found, letter, monkeypatch):
    with refused("a name of 1025 characters"):
        found(lambda _: [(letter * 1025, FILE)])
    monkeypatch.setattr(dvc_listed, "LETTERS", 10_000)
    given = itertools.count()
    with refused("without end"):
        found(lambda _: ((letter * 100, FILE) for _ in given))
    assert next(given) <= 102


def test_a_folder_of_too_many_files_is_not_listed(found, tmp_path, monkeypatch):
    from dvc_objects.fs.local import LocalFileSystem

    dvc_listed._bound_folders(dvc_listed._Lists())
    for name in "abc":
        (tmp_path / name).touch()
    system = LocalFileSystem()
    assert sorted(system.name(each) for each in system.ls(str(tmp_path))) == ["a", "b", "c"]
    assert len(list(system.ls(str(tmp_path / "a")))) == 1
    monkeypatch.setattr(dvc_listed, "MOST", 5)
    with pytest.raises(Exception, match="without end"):
        system.ls(str(tmp_path))


def asked(root, most):
    """Ask a remote what it holds; returns DVC's answer and the kilobytes that it took."""
    command = [sys.executable, "-P", "-c", LIMITED, str(most)]
    command += ["status", "--cloud", "--json", "data.dvc"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120.0)
    *_, peak = done.stdout.split()
    return done, int(peak)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("thing", "found"),
    [
        ("long names", "a name of 4000 characters"),
        ("names", "a list of the remote without end"),
        pytest.param("folders", "a list of the remote without end", marks=pytest.mark.proof),
    ],
)
def test_an_ssh_server_that_lists_without_end_is_left_in_one_line(root, monkeypatch, thing, found):
    pytest.importorskip("dvc_ssh", reason="dvc-ssh is missing")
    monkeypatch.setenv("HOME", str(root.parent))
    recalled(root)
    with false_ssh.running(root.parent / "ssh", thing, root):
        done, peak = asked(root, 5000)
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert f"found {found}" in line
    assert peak < 300_000


def recalled(root):
    """Fetch what the store holds, which then loses its list: DVC asks for all objects."""
    subprocess.run([sys.executable, "-m", "dvc", "pull", "-q"], cwd=root, check=True)
    (place,) = (root / "store").rglob("*.dir")
    place.unlink()


PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>again
</NextContinuationToken>{}</ListBucketResult>"""
ENTRY = "<Contents><Key>{}</Key><Size>{}</Size><ETag>{}</ETag></Contents>"


class Pages(Answer):
    """Answers in place of S3, which has no file: the same page without end, or too long a one."""

    def do_HEAD(self):  # noqa: N802
        self.send_error(404)

    def do_GET(self):  # noqa: N802
        self.send_response(200)
        self.send_header("Content-Type", "application/xml")
        name, entries, tag, size = self.server.page
        entries = 0 if ".dir" in self.path else entries
        entry = ENTRY.format(f"recordings/files/md5/00/{name}", size, tag)
        content = PAGE.format(entry * entries).encode()
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(OSError):  # nobody takes more
            self.wfile.write(content)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "found"),
    [
        (("0" * 30, 1000, "a", 1), "a list of the remote without end"),
        (("0" * 1100, 10, "a", 1), "a name of"),
        pytest.param(("0" * 30, 10, "a" * 2000, 1), "a name of", marks=pytest.mark.proof),
        (("0" * 30, 100_000, "a", 1), "an answer without end"),
        pytest.param(("0" * 30, 10, "a", "9" * 4200), "an odd size", marks=pytest.mark.proof),
        (("0" * 30, 10, "a", -1), "an odd size"),
    ],
    ids=["the same page", "long names", "long tags", "a long page", "long size", "negative size"],
)
def test_an_s3_server_that_lists_without_end_is_left_in_one_line(root, monkeypatch, page, found):
    pytest.importorskip("dvc_s3", reason="dvc-s3 is missing")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "keys-of-the-lab")
    recalled(root)
    with serving(root, answers=Pages) as (server, address):
        server.page = page
        url = f"s3://lab/recordings\n    endpointurl = {address}"
        file = root / ".dvc" / "config"
        file.write_text(file.read_text().replace("../store", url))
        done, peak = asked(root, 5000)
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert f"found {found}" in line
    assert peak < 300_000


@pytest.mark.parametrize("coding", ["utf-8", "utf-16"])
def test_an_answer_of_s3_that_declares_what_its_words_stand_for_is_refused(coding):
    """A reader of XML puts the text in their place: 4 MiB become gigabytes."""
    kind = pytest.importorskip("dvc.exceptions", reason="dvc is missing").DvcException
    declared = f'<!DOCTYPE a [<!ENTITY e "{"x" * 100}">]>'
    for content, plain in ((declared + "<a>&e;</a>", False), ("<a>b</a>", coding == "utf-8")):
        if plain:
            assert driven(dvc_listed._content(answered(content.encode(coding)))) == content.encode()
        else:
            with pytest.raises(kind, match="declarations"):
                driven(dvc_listed._content(answered(content.encode(coding))))


@pytest.mark.parametrize(
    "form", ["<a xmlns='{}'/>", '<b:a xmlns:b = "{}"/>', "<a><b xmlns='x' xmlns:c='{}'/></a>"]
)
def test_an_answer_of_s3_with_a_namespace_without_end_is_refused(form):
    """A reader of XML makes each name anew with it."""
    kind = pytest.importorskip("dvc.exceptions", reason="dvc is missing").DvcException
    honest = form.format("http://s3.amazonaws.com/doc/2006-03-01/").encode()
    assert driven(dvc_listed._content(answered(honest))) == honest
    with pytest.raises(kind, match="a namespace without end"):
        driven(dvc_listed._content(answered(form.format("u" * 101).encode())))
    for other in (b"no XML", b"<a"):
        assert driven(dvc_listed._content(answered(other))) == other


def answered(content):
    async def parts():
        yield content[:10]
        yield content[10:]

    raw = SimpleNamespace(content=SimpleNamespace(iter_any=parts), close=lambda: None)
    return SimpleNamespace(_content=None, url="s3://lab", raw=raw)
