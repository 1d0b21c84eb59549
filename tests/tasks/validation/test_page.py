"""The page of a validation: every metric of every role, every refusal, links that lead on."""

import re
from urllib.parse import unquote

from ricochet.tasks.registry.runs import OpenRun
from ricochet.tasks.systems.bouncing_ball.validation.results import Paired, TwinResult
from ricochet.tasks.validation import page as validation_page
from ricochet.tasks.validation.checks import Check, Verdict

RUN = OpenRun("parent", "3", False)
ALONE = TwinResult(
    name="tennis-table",
    candidate="2",
    champion=None,
    rig="simulated",
    seeds=(0, 1),
    success=Paired((True, False), None),
    positions=(),
    inside_90=Paired((), None),
)
BESIDE = TwinResult(
    **(vars(ALONE) | {"champion": "1", "success": Paired((True,) * 2, (False,) * 2)})
    | {"inside_90": Paired((), ())}
)
PASSED = Verdict((Check("a", True, "good", "good"),))
REFUSED = Verdict((*PASSED.checks, Check("b", False, "0.44 of 500", "0.9")))


def describe(result, verdict, measured):
    children = {role: f"run-{role}" for role in measured}
    return validation_page.describe(RUN, result, verdict, measured=measured, children=children)


def rows(page):
    """Return the cells of the page's table by the words in its first column."""
    lines = [line[2:-2].split(" | &emsp;") for line in page.splitlines() if line.startswith("|")]
    return {line[0]: line[1:] for line in lines}


def test_the_table_has_both_roles_the_known_metrics_first_and_none_left_out():
    measured = {
        "candidate": {"novel": 7.0, "success": 0.975},
        "champion": {"novel": 8.0, "success": 0.5, "energy": 0.02},
    }
    page = describe(BESIDE, PASSED, measured)
    found = rows(page)
    assert found["tosses met, share"] == ["0.975", "0.5"]
    assert found["novel"] == ["7", "8"]
    assert list(found)[-3:] == ["tosses met, share", list(found)[-2], "novel"]
    assert found[""] == ["candidate, version 2", "champion, version 1"]


def test_every_refusal_is_a_line_and_a_pass_has_none():
    measured = {"candidate": {"success": 0.5}}
    page = describe(ALONE, REFUSED, measured)
    assert page.startswith("**Refused by the gate** (1 of 2 checks failed)")
    assert "- b: found 0.44 of 500, expected 0.9" in page
    page = describe(ALONE, PASSED, measured)
    assert page.startswith("**Passed by the gate** (all 1 checks)") and "\n- " not in page


def test_links_are_relative_and_name_both_runs_only_where_there_are_two():
    both = {"candidate": {"success": 1.0}, "champion": {"success": 0.0}}
    page = unquote(describe(BESIDE, PASSED, both))
    assert 'compare-runs?runs=["run-candidate","run-champion"]&experiments=["3"]' in page
    targets = re.findall(r"[^!]\[[^]]*\]\((.*?)\)", page)
    assert len(targets) == 3 and all(target.startswith("#/") for target in targets)
    assert "(get-artifact?path=figures/candidate-and-champion.png&run_uuid=parent)" in page
    page = describe(ALONE, PASSED, {"candidate": both["candidate"]})
    assert "compare-runs" not in page and "/models/tennis-table/versions/2" in page


def test_validations_of_a_pair_are_told_apart_by_their_titles():
    titles = {
        validation_page.title(result, verdict)
        for result in (ALONE, BESIDE)
        for verdict in (PASSED, REFUSED)
    }
    assert len(titles) == 4
    assert "tennis-table 2 refused beside 1" in titles
