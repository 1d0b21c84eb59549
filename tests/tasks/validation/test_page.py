"""The page of a validation: every metric of every role, every refusal, links that lead on."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from ricochet.tasks.registry.runs import OpenRun
from ricochet.tasks.registry.verdicts import Check, Verdict
from ricochet.tasks.validation import page
from ricochet.tasks.validation.report import Report


@dataclass(frozen=True)
class Compared:
    """Two versions."""

    name: str = "toy-table"
    candidate: str = "2"
    champion: str | None = None
    rig: str = "simulated"


RUN = OpenRun("parent", "3", False)
ALONE, BOTH = Compared(), Compared(champion="1")
PASSED = Verdict((Check("a", True, "good", "good"),))
REFUSED = Verdict((*PASSED.checks, Check("b", False, "0.44 of 500", "0.9")))
LABELS = {"success": "trials won, share", "energy": "energy, J"}


def describe(result, verdict, measured):
    made = Report(
        result=result,
        content={},
        summary={},
        trials="2 trials",
        stated="sound",
        measured=measured,
        labels=LABELS,
        parameters={},
        draw=lambda: None,
    )
    children = {role: f"run-{role}" for role in measured}
    return page.describe(RUN, made, verdict, children=children)


def rows(text):
    """Return the cells of the page's table by the words in its first column."""
    lines = [line[2:-2].split(" | &emsp;") for line in text.splitlines() if line.startswith("|")]
    return {line[0]: line[1:] for line in lines}


def test_the_table_has_both_roles_the_labelled_metrics_first_and_none_left_out():
    measured = {
        "candidate": {"novel": 7.0, "success": 0.975},
        "champion": {"novel": 8.0, "success": 0.5, "energy": 0.02},
    }
    found = rows(describe(BOTH, PASSED, measured))
    assert found["trials won, share"] == ["0.975", "0.5"]
    assert found["novel"] == ["7", "8"] and found["energy, J"] == ["", "0.02"]
    assert list(found)[-3:] == ["trials won, share", "energy, J", "novel"]
    assert found[""] == ["candidate, version 2", "champion, version 1"]


def test_every_refusal_is_a_line_and_a_pass_has_none():
    measured = {"candidate": {"success": 0.5}}
    text = describe(ALONE, REFUSED, measured)
    assert text.startswith("**Refused by the gate** (1 of 2 checks failed): 2 trials on the sim")
    assert "- b: found 0.44 of 500, expected 0.9" in text
    text = describe(ALONE, PASSED, measured)
    assert text.startswith("**Passed by the gate** (all 1 checks)") and "\n- " not in text


def test_links_are_relative_and_name_both_runs_only_where_there_are_two():
    both = {"candidate": {"success": 1.0}, "champion": {"success": 0.0}}
    text = unquote(describe(BOTH, PASSED, both))
    assert 'compare-runs?runs=["run-candidate","run-champion"]&experiments=["3"]' in text
    targets = re.findall(r"[^!]\[[^]]*\]\((.*?)\)", text)
    assert len(targets) == 3 and all(target.startswith("#/") for target in targets)
    assert "(get-artifact?path=figures/candidate-and-champion.png&run_uuid=parent)" in text
    text = describe(ALONE, PASSED, {"candidate": both["candidate"]})
    assert "compare-runs" not in text and "/models/toy-table/versions/2" in text


def test_validations_of_a_pair_differ_in_their_titles():
    titles = {
        page.title(result, verdict) for result in (ALONE, BOTH) for verdict in (PASSED, REFUSED)
    }
    assert len(titles) == 4
    assert "toy-table 2 refused against 1" in titles
