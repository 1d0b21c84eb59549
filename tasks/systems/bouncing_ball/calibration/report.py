"""What a calibration says at the terminal: the numbers, what was set aside, ratio by bounce."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.tasks.registry import candidacy
from ricochet.tasks.storage import checked_json
from ricochet.tasks.systems.bouncing_ball.calibration import plain_words
from ricochet.tasks.systems.bouncing_ball.figures import member_weights

WIDTH = 40
DOUBTFUL = 0.01
"""Chance that a clip has no ball from which that is said before the number."""
UNLIKELY = 0.5
"""Such a chance from which the number is the prior's rather than the bounces'."""
SHOWN = 3
"""Rejected takes that are named; the rest is counted."""


def lines(
    results: Mapping[str, Mapping[str, Any]],
    out: Path,
    candidates: Mapping[str, str] | None = None,
) -> list[str]:
    """Describe results by name: `result`, `folder`, and whether it is `unchanged`.

    Args:
        candidates: The version that is a candidate now, by the name in the registry; where one is
            not known, nothing is said of it.
    """
    said: list[str] = []
    for name, entry in results.items():
        details = checked_json.load(Path(entry["folder"]) / "details.json")
        said += _target(
            name, entry["result"], details, candidates or {}, unchanged=bool(entry["unchanged"])
        )
        if "replaces" in entry:
            said.append(f"  replaces the earlier answer ({entry['replaces']})")
    place = out if len(results) > 1 else next(iter(results.values()))["folder"]
    return [*said, f"results and figures in {place}"]


def bars(drop: Mapping[str, Any], *, most: int = 24) -> list[str]:
    """Draw the ratio of the intervals after and before each bounce of a drop, a line a bounce.

    Args:
        drop: `times`, s, and `missing`, as in `details.json`.
    """
    gaps, missing = np.diff(drop["times"]), set(drop["missing"])
    known = [n for n in range(1, len(gaps)) if not {n - 1, n} & missing]
    ratios = {n: gaps[n] / gaps[n - 1] for n in known}
    if not ratios:
        return []
    low, high = min(ratios.values()), max(ratios.values())
    said = [f"  bounce  ratio   {low:.3f} {'-' * (WIDTH - 12)} {high:.3f}"]
    for n in range(1, min(len(gaps), most + 1)):
        if n in ratios:
            place = round((ratios[n] - low) / max(high - low, 1e-9) * (WIDTH - 1))
            said.append(f"  {n + 1:6d}  {ratios[n]:.4f}  {' ' * place}*")
        elif n in missing:
            begin, end = drop["times"][n : n + 2]
            said.append(f"          a bounce is missing between {begin:.2f} and {end:.2f} s")
    left = len([n for n in known if n > most])
    return [*said, f"  and {left} more in bounces.csv"] if left else said


def assumed_air(ball: Mapping[str, Any]) -> str | None:
    """Say whose air a clip's answer assumes, from `object` of its result; None if no one's."""
    if "air_temperature" not in ball:
        return None
    return f"air of {plain_words.sized(ball)}, at {ball['air_temperature']:g} degrees"


def doubt(details: Mapping[str, Any]) -> list[str]:
    """Say before the number of a clip that may be no ball's how much of it is the prior."""
    chance = chance_of_no_ball(details)
    if chance < DOUBTFUL:
        return []
    ratio = float(np.median(np.concatenate(details["ratios"])))
    return [
        f"this is no ball with a chance of {100 * chance:.0f} %, and by that share the number "
        "is what was assumed beforehand;",
        f"successive intervals shrink by the factor {ratio:.3f} (median)",
    ]


def chance_of_no_ball(details: Mapping[str, Any]) -> float:
    """Return the chance, by the finding `weak`, that what was taken for bounces is none."""
    found = [each["p_value"] for each in details.get("findings", []) if each.get("name") == "weak"]
    return float(max(found, default=0.0))


def _target(
    name: str,
    result: Mapping[str, Any],
    details: Mapping[str, Any],
    candidates: Mapping[str, str],
    *,
    unchanged: bool,
) -> list[str]:
    said = [f"{name}:{' unchanged, skipped' if unchanged else ''}"]
    said += [f"  {line}" for line in doubt(details)]
    if "channels" in details and chance_of_no_ball(details) < UNLIKELY:
        said += plain_words.lines(result)
    said += _parameters(result, result["parameters"], result.get("unknown", []))
    said += _whole_takes(result) if "nuisances" in result else _by_speed(result.get("restitution"))
    if air := assumed_air(result.get("object", {})):
        said.append(f"  {air}")
    released = details.get("release", [])
    said += [_height(entry, len(released)) for entry in released]
    said += _takes(result["takes"])
    said += [f"  ! {finding['sentence']}" for finding in details.get("findings", [])]
    said += [line for drop in details.get("drops", []) for line in bars(drop)]
    if (registered := result["registered"]) is not None:
        said.append(
            "  registered as {name}, version {version}".format(**registered)
            + candidacy.of_registered(registered["name"], registered["version"], candidates)
            + _holding(details.get("package_kind", ""))
        )
    said += plain_words.about_places(details.get("channels") or 0)
    if "withheld" in result:
        said.append(f"  ! {result['withheld']}")
    return said


def _parameters(
    stated: Mapping[str, Any], names: Sequence[str], unknown: Sequence[str]
) -> list[str]:
    """Say each parameter with its deviation and interval, a line each."""
    said = []
    spread = np.sqrt(np.diag(np.asarray(stated["covariance"], dtype=np.float64)))
    for name, mean, deviation in zip(names, stated["mean"], spread, strict=True):
        low, high = stated["region_90"][name]
        if name in unknown:
            said.append(f"  {name} unknown: it takes the places of the bounces")
            continue
        digits = max(4, min(8, 1 - math.floor(math.log10(max(deviation, 1e-12)))))
        said.append(
            f"  {name} {mean:.{digits}f} +- {deviation:.{digits}f}"
            f"   90 %: {low:.{digits}f} to {high:.{digits}f}"
        )
    return said


def _holding(kind: str) -> str:
    """Say which of both answers a package holds, where there are two."""
    return ", with the draws of whole takes (kind family)" if kind == "family" else ""


def _whole_takes(result: Mapping[str, Any]) -> list[str]:
    """Say at which speed the restitution of whole takes holds, its laws, and the other answer."""
    found, band = result["restitution"], result["restitution"]["band"]
    laws = member_weights.listed(result["members"])
    speeds = (
        f"at {found['reference_speed']:g} m/s; {band[0]['mean']:.4f} at {band[0]['speed']:.1f}, "
        f"{band[-1]['mean']:.4f} at {band[-1]['speed']:.1f} m/s ({laws})"
    )
    if result["stated"] == "three_bounces":
        whole = found["at_reference"], result["nuisances"]["log10_concentration"]
        return [
            f"  by three bounces; whole takes, which are weak, give {speeds}",
            *_pair([each["mean"] for each in whole], [each["sd"] for each in whole]),
        ]
    three = result["three_bounces"]
    return [
        f"  by whole takes, with air, slope and noise inferred, {speeds}",
        "  by three bounces and the paper's model",
        *_pair(three["mean"], np.sqrt(np.diag(three["covariance"])).tolist()),
    ]


def _pair(mean: Sequence[float], sd: Sequence[float]) -> list[str]:
    return [
        f"    restitution {mean[0]:.5f} +- {sd[0]:.5f}, "
        f"log10_concentration {mean[1]:.3f} +- {sd[1]:.3f}"
    ]


def _by_speed(restitution: Mapping[str, Any] | None) -> list[str]:
    """Say at which speeds a restitution from times holds."""
    if restitution is None:
        return []
    first, reference = restitution["at_first_bounce"], restitution["at_reference"]
    low, high = reference["region_90"]
    return [
        f"  that is at the {first['speed']:.2f} m/s of the first bounce; at "
        f"{restitution['reference_speed']:.2f} m/s {reference['mean']:.4f}, "
        f"90 %: {low:.4f} to {high:.4f}"
    ]


def _height(entry: Mapping[str, Any], sessions: int) -> str:
    """Say from which height a session's balls fell, with its name if there are several."""
    session = f" of {entry['session']}" if sessions > 1 else ""
    if entry["source"] == "stated":
        source = "as stated"
    elif entry["stated"] is None:
        source = "inferred from the takes, as none is stated"
    else:
        source = f"inferred from the takes, which contradict the {entry['stated']:g} m stated"
    height = f"{entry['height']:.3f} +- {entry['height_sd']:.3f} m"
    return f"  height of release{session} {height}, {source}"


def _takes(takes: Mapping[str, Any]) -> list[str]:
    rejected = takes["rejected"]
    whole = takes.get("whole_takes")
    wholly = f" ({whole['used']} as wholes)" if whole else ""
    said = [f"  takes used {takes['used']}{wholly}, set aside {len(rejected)}"]
    said += [f"    {entry['file']}: {entry['reason']}" for entry in rejected[:SHOWN]]
    if len(rejected) > SHOWN:
        said.append(f"    and {len(rejected) - SHOWN} more in result.json")
    return said
