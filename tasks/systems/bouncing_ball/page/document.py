"""`page.html`: the answer to a bare recording as one file that needs nothing else.

The file holds its style, its program and the sound, and asks nobody for anything: its policy
refuses every address, and any program but its own. It can be sent by mail and opened anywhere.
"""

import base64
import hashlib
import math
import re
import shlex
import string
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.printable_text import one_line
from ricochet.tasks.recordings import sessions
from ricochet.tasks.storage import checked_json
from ricochet.tasks.storage.files import read_bytes, write_bytes
from ricochet.tasks.systems.bouncing_ball.calibration import (
    bounce_table,
    folders,
    plain_words,
    report,
)
from ricochet.tasks.systems.bouncing_ball.calibration.bounce_table import Bounce
from ricochet.tasks.systems.bouncing_ball.page import plots, sound
from ricochet.tasks.systems.bouncing_ball.page.sound import Excerpt

_NOT_KNOWN = "&ndash;"


def write(recording: Path, folder: Path) -> Path:
    """Write the page of a recording beside its results, and return its path.

    Args:
        folder: Where `result.json`, `details.json` and `bounces.csv` of the recording lie.

    Raises:
        BadInput: If one of them cannot be read, or is another recording's.
    """
    result = checked_json.load(folder / "result.json", "a result")
    details = checked_json.load(folder / "details.json", "the result's details")
    if result["sessions"] != [recording.name]:
        raise BadInput(str(folder), f"results of {result['sessions']}", f"of {recording.name}")
    bounces = _bounces(folder / "bounces.csv")
    samples, rate = sessions.load_clip(recording)
    times = [row.time_s for row in bounces]
    part = sound.excerpt(samples, rate, first=min(times), last=max(times))
    write_bytes(
        folder / folders.PAGE, document(recording.name, result, details, bounces, part).encode()
    )
    return folder / folders.PAGE


def _bounces(file: Path) -> list[Bounce]:
    content = read_bytes(file, "bounces")
    try:
        found = bounce_table.read(content.decode())
    except ValueError as error:
        raise BadInput(str(file), one_line(error), "a table of bounces") from error
    if not found or not all(math.isfinite(row.time_s) for row in found):
        raise BadInput(str(file), "no bounce, or one at no time", "a table of bounces")
    return found


def document(
    name: str,
    result: Mapping[str, Any],
    details: Mapping[str, Any],
    bounces: Sequence[Bounce],
    part: Excerpt,
) -> str:
    """Return the page's HTML."""
    at = result["restitution"]["at_first_bounce"]
    believed = report.chance_of_no_ball(details) < report.UNLIKELY
    sentences = [
        *(plain_words.sentences(result) if believed else []),
        plain_words.about_drag(result),
    ]
    script = _file("page.js")
    mean, low, high = plain_words.shares(at)
    return string.Template(_file("page.html")).substitute(
        policy=_policy(script),
        style=_file("page.css"),
        script=script,
        name=escape(name),
        command=escape(_command(name, result)),
        restitution=mean if believed else "?",
        low=low,
        high=high,
        sentences="\n".join(f"<p>{escape(each)}</p>" for each in sentences),
        doubt="".join(f'<p class="finding">{escape(each)}</p>' for each in _doubt(details)),
        findings="\n".join(_findings(details)),
        audio=sound.to_data_url(part),
        excerpt=escape(_excerpt(part, bounces)),
        loudness=plots.loudness(part, bounces),
        height=plots.height(part, bounces),
        by_speed=plots.by_speed(result["restitution"], bounces),
        rows="\n".join(_row(row, part) for row in bounces),
    )


def _command(name: str, result: Mapping[str, Any]) -> str:
    """Return the command that gives this page again."""
    ball = result["object"]
    named = ["--ball", str(ball["ball"])] if "air_temperature" in ball else []
    return shlex.join(["ricochet", "calibrate", name, *named, "--page"])


def _policy(script: str) -> str:
    """Return the content security policy: no address, and no program but this one."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "media-src data:; base-uri 'none'; form-action 'none'"
    )


def _doubt(details: Mapping[str, Any]) -> list[str]:
    """Return the sentence that stands before the number of what may be no ball."""
    said = " ".join(report.doubt(details))
    return [f"{said[0].upper()}{said[1:]}."] if said else []


def _findings(details: Mapping[str, Any]) -> Iterator[str]:
    """Yield a paragraph for each finding; what stands between backquotes is code."""
    for finding in details["findings"]:
        sentence = re.sub("`([^`]*)`", r"<code>\1</code>", escape(finding["sentence"]))
        yield f'<p class="finding">{sentence}</p>'


def _excerpt(part: Excerpt, bounces: Sequence[Bounce]) -> str:
    silent = sum(not plots.playable(part, row) for row in bounces)
    cut = f"; {silent} later bounces are not in it" if silent else ""
    return (
        f"The sound is the recording from {part.start:.1f} s to {part.end:.1f} s, "
        f"its loudest channel, scaled to its peak{cut}."
    )


def _row(row: Bounce, part: Excerpt) -> str:
    time = f"{row.time_s:.3f}"
    if plots.playable(part, row):
        place = f"{row.time_s - part.start:.4f}"
        label = f"play bounce {row.bounce} of drop {row.drop}"
        time = f'<button data-time="{place}" aria-label="{label}">&#9654; {time}</button>'
    height = None if row.height_after_m is None else 1e2 * row.height_after_m
    kept = None if row.energy_kept is None else 1e2 * row.energy_kept
    cells = [
        f"{row.drop}",
        f"{row.bounce}",
        time,
        _number(height, 2),
        _number(row.speed_before_m_per_s, 2),
        _number(row.speed_after_m_per_s, 2),
        _number(kept, 1),
    ]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _number(value: float | None, digits: int) -> str:
    return _NOT_KNOWN if value is None else f"{value:.{digits}f}"


def _file(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")
