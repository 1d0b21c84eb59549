"""An SSH server that serves files as they are but for one thing.

    python -P -m tests.tasks.recordings.false_ssh FOLDER PORT THING

It lets in whoever comes, or answers it. `FOLDER/host.pub` is the key of its host.
"""

import asyncio
import contextlib
import itertools
import os
import re
import sys
from pathlib import Path

from tests.checkouts import python_path
from tests.servers import free_port, listening

ESCAPES = "\x1b]0;renamed\x07\x1b[31m\r\nforged "
OBJECT = re.compile(rb".*/[0-9a-f]{30}(\.dir)?")
CONFIG = """[core]
    analytics = false
    remote = lab
['remote "lab"']
    url = ssh://user@127.0.0.1:{}{}
"""


@contextlib.contextmanager
def running(folder, thing, root):
    """Run a server whose host is known, as the remote of a repository that holds its store."""
    folder.mkdir()
    port = free_port()
    command = [
        "env",
        f"PYTHONPATH={python_path()}",
        sys.executable,
        "-P",
        "-m",
        __name__,
        str(folder),
        str(port),
        thing,
    ]
    with listening(command, port, folder / "log"):
        known = Path(os.environ["HOME"]) / ".ssh" / "known_hosts"
        known.parent.mkdir(exist_ok=True)
        known.write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
        (root / ".dvc" / "config").write_text(CONFIG.format(port, root / "store"))
        yield


def files(thing):
    """Return the kind of an SFTP server of which one thing is false."""
    import asyncssh

    class Files(asyncssh.SFTPServer):
        def open(self, path, flags, attributes):
            if thing == "error" and OBJECT.fullmatch(path):
                raise asyncssh.SFTPFailure(ESCAPES * 1000)
            return super().open(path, flags, attributes)

        def stat(self, path):
            found = asyncssh.SFTPAttrs.from_local(super().stat(path))
            if thing == "no mode" and OBJECT.fullmatch(path):
                found.permissions, found.type = None, asyncssh.FILEXFER_TYPE_UNKNOWN
            return found

        async def scandir(self, path):
            facts = asyncssh.SFTPAttrs(permissions=0o40755 if thing == "folders" else 0o100644)
            length = 4000 if thing == "long names" else 30
            for number in itertools.count():
                yield asyncssh.SFTPName(b"%0*x" % (length, number), attrs=facts)

    return Files


async def serve(folder, port, thing):
    """Serve without end."""
    import asyncssh

    class Open(asyncssh.SSHServer):
        def begin_auth(self, username):
            return thing == "questions"

        def kbdint_auth_supported(self):
            return True

        def get_kbdint_challenge(self, username, lang, submethods):
            return ESCAPES, ESCAPES, lang, [(f"{ESCAPES}password, please: ", False)]

        def validate_kbdint_response(self, username, responses):
            return True  # and what was said is known

    key = asyncssh.generate_private_key("ssh-ed25519")
    key.write_public_key(str(folder / "host.pub"))
    own = {"server_factory": Open, "server_host_keys": [key], "sftp_factory": files(thing)}
    async with await asyncssh.listen("127.0.0.1", port, **own):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
