"""Files of commas, archives, models and results that are damaged, endless or mean nothing."""

import io
import itertools
import struct
import zipfile
from collections.abc import Iterator

import numpy as np

ONE_JOINT = '<body><joint type="hinge"/><geom size=".1"/></body>'


def tables() -> Iterator[tuple[str, bytes]]:
    """Yield files of commas that no reader takes."""
    yield "one name", b"a\n"
    yield "names alone", b"time,position\n"
    yield "no numbers", b"time,position\n0,x\n1,y\n"
    yield "a cell that is none", b"time,position\n0,nan\n1,2\n"
    yield "a cell beyond all", b"time,position\n0,1e999\n1,2\n"
    yield "a cell of 5000 digits", b"time,position\n0," + b"1" * 5000 + b"\n"
    yield "a cell of 10 MB", b"time,position\n0," + b"1" * 10_000_000 + b"\n"
    yield "a quote without end", b'time,position\n"0,1\n' + b"2,3\n" * 100_000
    yield "ragged rows", b"time,position\n0,1\n2\n3,4,5\n"
    yield "a row of 100,000 names", b",".join([b"a"] * 100_000) + b"\n"
    yield "a row of 16 million cells", b"," * 16_000_000
    yield "a wide first row", b",".join([b"a"] * 1000) + b"\n" + b"1\n" * 100_000
    yield "600,000 rows", b"time,position\n" + b"0,0\n" * 600_000
    yield "six million cells", b"time,position\n" + (b"1," * 59 + b"1\n") * 100_000
    yield "16 million empty rows", b"\n" * 16_000_000
    yield "zeros", b"time,position\n\0,\0\n"
    yield "times that are even and huge", b"time,position\n0,0\n1e308,1\n"
    yield "control characters", b"\x1b[31m,\x07\n1,2\n"
    yield "other ends", b"time,position\r0,1\r"
    yield "another alphabet", "time,position\n٣,x\n".encode()
    yield "UTF-16", "time,position\n0,1\n".encode("utf-16")


def archives() -> Iterator[tuple[str, bytes]]:
    """Yield archives that are none of samples of a posterior."""
    good = io.BytesIO()
    np.savez(good, truth=np.zeros((20, 2)), draws=np.zeros((20, 20, 2)))
    content = good.getvalue()
    for share in (0.1, 0.5, 0.99):
        yield f"an archive cut at {share:g}", content[: int(share * len(content))]
    yield "a bomb", _zipped({"truth.npy": bytes(2**26)})
    yield "ten bombs", _zipped({f"{n}.npy": bytes(2**24) for n in range(10)})
    yield "many members", _zipped({f"{n}.npy": b"" for n in range(3000)})
    yield "a folder upwards", _zipped({"../truth.npy": b"x"})
    yield "no array", _zipped({"truth.npy": b"x", "draws.npy": b"x"})
    yield "code", _zipped({"truth.npy": _array("|O", (1,), b"cos\nsystem\n.")})
    yield "a petabyte", _zipped({"truth.npy": _array("<f8", (2**47,), b"")})
    yield "a negative shape", _zipped({"truth.npy": _array("<f8", (-1,), b"")})
    yield "a shape beyond all", _zipped({"truth.npy": _array("<f8", (10**400,), b"")})
    wrong = bytearray(content)
    at = content.rfind(b"PK\5\6")
    struct.pack_into("<I", wrong, at + 12, 2**32 - 1)
    yield "a list of 4 GB", bytes(wrong)
    struct.pack_into("<HHII", wrong, at + 8, 65535, 65535, 0, 0)
    yield "a list of nothing", bytes(wrong)
    yield (
        "a long list",
        b"PK\1\2" * 1_000_000
        + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 65535, 65535, 4_000_000, 0, 0),
    )


def _zipped(members: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, inner in members.items():
            archive.writestr(name, inner)
    return content.getvalue()


def _array(kind: str, shape: tuple[int, ...], content: bytes) -> bytes:
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + content


def models() -> Iterator[tuple[str, bytes]]:
    """Yield models that MuJoCo must not get, or that are refused where memory is bounded."""
    yield "deep", b"<mujoco><worldbody>" + b"<body>" * 20_000
    deep = "<frame>" * 5000 + ONE_JOINT + "</frame>" * 5000
    yield "deep and closed", model(deep)
    entity = '<!DOCTYPE m [<!ENTITY a "aaaa">]>'
    yield "entities", (entity + "<mujoco>&a;</mujoco>").encode()
    yield "a file outside", model("", above='<include file="/etc/passwd"/>')
    yield "code", model("", above='<extension><plugin plugin="x"/></extension>')
    yield "a long number", model(ONE_JOINT, above=f'<option timestep="{"1" * 100_000}"/>')
    yield "memory of 100 GB", model(ONE_JOINT, above='<size memory="100G"/>')
    yield "an absent mesh", model(ONE_JOINT, above='<asset><mesh file="a.obj"/></asset>')


def growing_models() -> Iterator[tuple[str, bytes]]:
    """Yield models of which a few words stand for gigabytes; each takes its share of time."""
    field = '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>'
    yield "a height field of 10^10", model(ONE_JOINT, above=field)
    grid = '<flexcomp name="f" type="grid" count="900 900 900" spacing=".1 .1 .1" dim="3"/>'
    yield "a grid of 10^9", model(ONE_JOINT + grid)


def model(world: str, above: str = "") -> bytes:
    return f"<mujoco>{above}<worldbody>{world}</worldbody></mujoco>".encode()


def settings() -> Iterator[tuple[str, bytes]]:
    """Yield files of settings, and of other YAML, that are refused."""
    pairs = itertools.pairwise("abcdefghi")
    words = "".join(f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in pairs)
    texts = {
        "a bomb of references": "a: &a [x,x,x,x,x,x,x,x,x]\n" + words,
        "a list within itself": "a: &a [*a]",
        "deep lists": "[" * 100_000,
        "deep rows": "- " * 100_000,
        "deep keys": "? " * 50_000,
        "a day that is none": "capture: {drops: 2026-13-45}",
        "code": "!!python/object/apply:os.system ['true']",
        "a number to the base of 60": "capture: {drops: 1" + ":1" * 60_000 + "}",
        "a number of 5000 digits": f"capture: {{drops: {'1' * 5000}}}",
        "a number of 20,000 digits to the base of 16": f"capture: {{drops: 0x{'f' * 20_000}}}",
        "an empty number": "capture: {drops: !!int ''}",
        "a truth that is none": "capture: {drops: !!bool x}",
        "a time that is none": "capture: {drops: !!timestamp x}",
        "a key twice": "capture: {drops: 1, drops: 2}",
        "a key that is a list": "? [1]\n: 2",
        "two documents": "--- a\n--- b",
        "a control character": "capture: {ball: \x07}",
        "an escape": 'capture: {ball: "\\e[31m"}',
        "a long text": f"capture: {{ball: {'x' * 100_000}}}",
        "300 KB": "# " + "x" * 300_000,
        "a list": "[1, 2]",
        "an unknown section": "captrue: {drops: 1}",
        "a section of millions": "x" * 100_000 + ": {drops: 1}",
    }  # fmt: skip
    for name, text in texts.items():
        yield name, text.encode()
