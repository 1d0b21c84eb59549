"""A stranger in the place of Prefect's server names a result as code or in a block: it is not read.

Shown to work against a flow as Prefect makes one, and to fail against a flow with our options.
"""

import base64
import json
import os
import uuid

import cloudpickle
import pytest

from tests.flows.servers.false_prefect import KNOWN, WHOSE, accept, answers, run, state

BLOCK = "00000000-0000-4000-8000-000000000001"


BODY = f"""
    from prefect import get_client
    return get_client(sync_client=True).read_flow_run("{BLOCK}").state.result()
"""
"""What asks for the result of a run that the server says has ended."""


def named(kind, stored, block):
    """Return what the stranger answers: a run has ended, and where its result is stored."""
    ended = state(kind, data={"type": "reference", **stored})
    by_default = {"default_result_storage_block_id": stored.get("storage_block_id")}
    known = answers(accept)
    run = {**known[""], "state": ended}
    places = {"/default-result-storage": by_default, f"block_documents/{BLOCK}": block}
    return {**places, **known, f"/flow_runs/{BLOCK}": run, "": run}


def block(folder, settings):
    """Return the document of a block by which Prefect reads files."""
    from prefect.filesystems import RemoteFileSystem

    slug, kind = "remote-file-system", str(uuid.uuid4())
    of_kind = {**KNOWN, "id": kind, "name": "Remote File System", "slug": slug}
    schema = {
        "checksum": RemoteFileSystem._calculate_schema_checksum(),
        "block_type_id": kind,
        "block_type": of_kind,
    }
    named = {"block_type_id": kind, "block_type_name": of_kind["name"], "block_type": of_kind}
    data = {"basepath": f"filecache://{'../' * 9}{folder}", "settings": settings}
    return {
        **KNOWN,
        "id": BLOCK,
        "data": data,
        "block_schema": schema,
        "block_schema_id": kind,
        **named,
    }


class Code:
    """What runs a command when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COMPLETED", "FAILED"])
@pytest.mark.parametrize("ours", WHOSE)
def test_a_result_that_is_code_is_run_by_prefect_s_flows_and_not_by_ours(tmp_path, kind, ours):
    mark, place = tmp_path / "ran", tmp_path / "result"
    result = base64.encodebytes(cloudpickle.dumps(Code(mark))).decode()
    stored = {"serializer": {"type": "pickle"}, "storage_key": str(place)}
    place.write_text(json.dumps({"metadata": stored, "result": result}))
    said = run(tmp_path, named(kind, stored, {}), ours, BODY).stderr
    assert mark.exists() != ours, said
    assert not ours or "named a stored result" in said


@pytest.mark.slow
@pytest.mark.parametrize("ours", WHOSE)
def test_a_block_writes_a_file_of_the_stranger_s_for_prefect_s_flows_and_not_for_ours(
    tmp_path, ours
):
    source, target = tmp_path / "theirs", tmp_path / "cache"
    source.mkdir()
    (source / "evil").write_text("{}")
    cached = {"target_protocol": "file", "cache_storage": str(target), "same_names": True}
    stored = {"serializer": {"type": "json"}, "storage_key": "evil", "storage_block_id": BLOCK}
    said = run(tmp_path, named("COMPLETED", stored, block(source, cached)), ours, BODY).stderr
    assert (target / "evil").exists() != ours, said
    assert not ours or "named a stored result" in said
