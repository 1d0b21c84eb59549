"""The verb that turns existing recordings of drops into a session: import."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ricochet.flows.command_line.recording_verbs import known_balls
from ricochet.flows.command_line.verb import (
    RESULT,
    Call,
    Takes,
    Verb,
    complete_by,
    prepare_servers,
    report_published,
)
from ricochet.tasks.console.progress import announce
from ricochet.tasks.systems import catalogue


def import_recordings(call: Call) -> Mapping[str, Any]:
    """Seal existing recordings as a session."""
    announce("loading ...")
    from ricochet.tasks.systems.bouncing_ball import recording_import as importing
    from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR

    given = call.arguments
    request = importing.ImportRequest(
        files=tuple(given.recording),
        microphones=given.microphones,
        ball=given.ball,
        surface=given.surface,
        release_height=given.release_height,
        session=given.session,
        temperature=given.temperature,
        diameter=given.diameter,
        mass=given.mass,
    )
    catalogue.refuse_foreign([importing.package_name(request)], POSTERIOR.made_by)
    if call.publish:
        importing.check(request, call.out)
        prepare_servers(registry=False)
        from ricochet.flows.import_recordings import import_recordings as flow
        from ricochet.flows.import_recordings import to_words

        words = call.parameters()
        words.pop("seed")
        result = flow(stated=to_words(request), **words)
    else:
        result = importing.run(request, call.settings, call.out)
    for line in importing.lines(result):
        call.report_line(line)
    report_published(call, result["published"])
    call.report_next(result["next"])
    return result


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "recording",
        nargs="+",
        type=Path,
        help="WAV, FLAC, AIFF, OGG or MP3 (m4a, mp4 ... with PyAV), or folders",
    )
    ball = parser.add_argument("--ball", required=True, metavar="NAME", help="such as golf")
    complete_by(ball, known_balls)
    parser.add_argument("--surface", required=True, metavar="NAME", help="such as concrete")
    parser.add_argument(
        "--microphones",
        required=True,
        type=Path,
        metavar="FILE",
        help="YAML: places in metres in the order of the channels, temperature, survey_sd",
    )
    parser.add_argument(
        "--release-height",
        type=float,
        metavar="M",
        help="of the ball's lowest point above the surface, m (default: inferred from the sound)",
    )
    parser.add_argument(
        "--session", metavar="ID", help="name of the session (default: made of what it holds)"
    )
    parser.add_argument(
        "--temperature", type=float, metavar="C", help="of the air (default: that of FILE)"
    )
    parser.add_argument("--diameter", type=float, metavar="M", help="of the ball, m")
    parser.add_argument("--mass", type=float, metavar="KG", help="of the ball, kg")


VERBS = (
    Verb(
        ("import",),
        "seal existing recordings of drops as a session",
        "ricochet import takes/ --ball golf --surface concrete --microphones mics.yaml"
        " --release-height 0.6",
        import_recordings,
        _options,
        takes=RESULT | Takes.SETTINGS | Takes.NO_PUBLISH,
    ),
)
