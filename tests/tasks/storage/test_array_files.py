"""Archives return as NumPy wrote them; hostile ones are refused before they are big."""

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import array_files

LARGEST = 2**22
GOOD = {"puck": np.arange(6.0).reshape(3, 2), "kind": np.array(["a", "bc"]), "n": np.array(3)}


def npz(save=np.savez, **arrays):
    content = io.BytesIO()
    save(content, **arrays)
    return content.getvalue()


def npy(header):
    """A header of any text, padded as NumPy pads it."""
    text = header.encode() + b" " * (63 - (len(header) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def shaped(shape, descr="'<f8'", data=bytes(48)):
    return npy(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}") + data


def zipped(*members, method=zipfile.ZIP_STORED):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, member in members:
            archive.writestr(name, member)
    return content.getvalue()


def refused(content, line):
    """Check the line, and that next to nothing was allocated for it."""
    tracemalloc.start()
    with pytest.raises(BadInput, match=line) as error:
        array_files.parse(content, "x.npz", largest=LARGEST)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(error.value).startswith("x.npz") and str(error.value).isprintable()
    assert peak < 4 * LARGEST


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_return_as_they_were_written(save):
    arrays = {**GOOD, "turned": np.asfortranarray(GOOD["puck"]), "none": np.zeros((0, 2))}
    found = array_files.parse(npz(save, **arrays), "x.npz", largest=LARGEST)
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array, strict=True)


@pytest.mark.parametrize(
    ("shape", "line"),
    [
        ("(10000000000000, 2)", "1.6e+14 by its shape"),
        ("(10000000000000000000000, 2)", "1.6e+23 by its shape"),
        ("(4, 2)", "by its shape"),
        ("(2, 2)", "by its shape"),
        ("(-3, -2)", r"float64 of shape \(-3, -2\), expected numbers"),
        ("('a',)", "no archive of numbers"),
        ("(3, 2", "no archive of numbers"),
    ],
)
def test_a_shape_that_the_bytes_have_not_is_refused(shape, line):
    refused(zipped(("puck.npy", shaped(shape))), line.replace("+", r"\+"))


@pytest.mark.parametrize("descr", ["'|O'", "[('a', '<f8')]", "'<c16'", "'|V8'", "'<M8[s]'"])
def test_a_type_that_is_no_number_or_text_is_refused(descr):
    refused(
        zipped(("puck.npy", shaped("(3, 2)", descr))),
        r"puck\.npy': found .* of shape \(3, 2\), expected numbers",
    )


@pytest.mark.parametrize(
    "header",
    ["{'descr': '<f8', 'fortran_order': ((", '{\'descr\': """ ', "  {\n 1\n", "(" * 3000, "\0", ""],
)
def test_a_header_that_is_none_is_refused(header):
    refused(zipped(("puck.npy", npy(header))), r"no archive of numbers \(\w+\)")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_to_pack_are_refused(method):
    refused(zipped(("puck.npy", shaped("(3, 2)")), method=method), "as is or deflated")


def test_no_cut_or_changed_byte_is_another_error():
    """Checksums find most; a change of what no reader uses returns what was written."""
    whole = npz(np.savez_compressed, puck=GOOD["puck"])
    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 0xFF
        for changed in (bytes(flipped), whole[:place]):
            try:
                found = array_files.parse(changed, "x.npz", largest=LARGEST)
            except BadInput:
                continue
            for array in found.values():
                np.testing.assert_array_equal(array, GOOD["puck"])


def test_other_members_and_repeated_ones_are_refused():
    refused(zipped(("puck", b"hello")), "'puck': found something else")
    refused(zipped(("a\nb\x1b[31m", b"hello")), "found something else")
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = zipped(*[("puck.npy", shaped("(3, 2)"))] * 2)
    refused(twice, "an array twice")
    refused(zipped(*((f"{k}.npy", b"") for k in range(array_files.MOST_MEMBERS + 1))), "101 arrays")


def test_what_unpacks_to_much_or_to_more_than_its_size_explains_is_refused():
    refused(npz(puck=np.zeros(LARGEST // 8)), f"bytes unpacked, expected at most {LARGEST}")
    bomb = npz(np.savez_compressed, puck=np.zeros(LARGEST // 10))
    most = max(array_files.SMALL, array_files.MOST_GROWTH * len(bomb))
    assert most < LARGEST
    refused(bomb, f"bytes unpacked, expected at most {most}")
