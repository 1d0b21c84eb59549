"""The page of a recording: every bounce is in it, nothing leaves it, and its program runs."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.bouncing_ball.calibration import bounce_table
from ricochet.tasks.systems.bouncing_ball.calibration.bounce_table import Bounce
from ricochet.tasks.systems.bouncing_ball.page import document, plots, sound, svg

RATE = 8000
AT = {"speed": 2.0, "mean": 0.8, "sd": 0.01, "region_90": [0.78, 0.82]}
RESULT = {
    "sessions": ["clip.wav"],
    "object": {"ball": "clip", "surface": "unknown"},
    "restitution": {
        "at_first_bounce": AT,
        "band": [{**AT, "speed": speed} for speed in (0.5, 1.0, 2.0)],
        "beyond": [{**AT, "speed": 3.0}],
        "terminal_speed_if_constant": {"median": 8.0, "region_90": [6.0, 20.0]},
    },
}
FINDING = {"findings": [{"name": "air", "sentence": "State `--ball NAME`, <b>not</b> less."}]}
BOUNCES = [
    Bounce(1, 1, 0.5, None, 2.0, 0.2039, None),
    Bounce(1, 2, 0.9077, 2.0, 1.6, 0.1305, 0.64),
    Bounce(1, 3, 1.2339, 1.6, None, None, None),
    Bounce(2, 1, 3.0, None, None, None, None),
]
EVIL = '<img src=x onerror="alert(1)">&.wav'


class Elements(HTMLParser):
    """Collects the elements of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def clip(path: Path) -> Path:
    samples = 1e-3 * np.random.default_rng(0).normal(size=4 * RATE)
    for row in BOUNCES:
        samples[round(row.time_s * RATE)] = 0.5
    soundfile.write(path, samples, RATE)
    return path


def results(folder: Path, name: str = "clip.wav") -> Path:
    """Write what a calibration leaves in its folder."""
    (folder / "result.json").write_text(json.dumps(RESULT | {"sessions": [name]}))
    (folder / "details.json").write_text(json.dumps(FINDING))
    (folder / "bounces.csv").write_text(bounce_table.text(BOUNCES))
    return folder


@pytest.fixture
def page(tmp_path: Path) -> str:
    return document.write(clip(tmp_path / "clip.wav"), results(tmp_path)).read_text()


def test_every_bounce_is_listed_and_drawn_over_sound_and_height(page: str) -> None:
    elements = Elements(page).found
    buttons = [a["data-time"] for tag, a in elements if tag == "button"]
    drawn = [a["data-time"] for tag, a in elements if a.get("class") == "bounce"]
    assert [float(time or "nan") for time in buttons] == pytest.approx([r.time_s for r in BOUNCES])
    assert drawn == 2 * buttons
    assert page.count("<tr><td>") == len(BOUNCES)


def test_a_bounce_is_heard_where_its_mark_stands(tmp_path: Path) -> None:
    samples, rate = soundfile.read(clip(tmp_path / "clip.wav"))
    part = sound.excerpt(samples[None], rate, first=3.0, last=3.0)
    drawing = plots.loudness(part, BOUNCES)
    (mark,) = re.findall(r'data-time="([\d.]+)"', drawing)
    assert np.abs(part.samples).argmax() / rate == pytest.approx(float(mark), abs=1.0 / rate)
    assert part.start == 2.0 and float(mark) == pytest.approx(1.0)


def test_a_flight_is_drawn_as_high_as_it_was(page: str) -> None:
    axes = svg.Axes((0.0, 4.0), (0.0, 1.1 * 20.39), 230.0)
    controls = [float(y) for y in re.findall(r'class="flight" d="M[^"]*Q[\d.]+,(-?[\d.]+)', page)]
    ground = axes.at_y(0.0)
    tops = [
        (ground + control) / 2.0 for control in controls
    ]  # a parabola's top is half its control
    assert tops == pytest.approx([axes.at_y(20.39), axes.at_y(13.05)], abs=0.1)


def test_bounces_after_the_sound_have_no_button(tmp_path: Path) -> None:
    late = [*BOUNCES, Bounce(3, 1, 90.0, None, None, None, None)]
    part = sound.excerpt(np.ones((1, 100 * RATE)), RATE, first=0.5, last=90.0)
    page = document.document("clip.wav", RESULT, FINDING, late, part)
    assert page.count("<button") == len(BOUNCES) and page.count("<tr><td>") == len(late)
    assert "1 later bounces are not in it" in page


def test_nothing_is_asked_of_any_address(page: str) -> None:
    for tag, attributes in Elements(page).found:
        for name in ("src", "href", "action", "data", "poster", "xlink:href"):
            assert (attributes.get(name) or "data:").startswith("data:"), (tag, attributes)
    assert "http://" not in page and "https://" not in page and "url(" not in page


def test_a_name_stays_text(tmp_path: Path) -> None:
    written = document.write(clip(tmp_path / EVIL), results(tmp_path, EVIL)).read_text()
    tags = [tag for tag, _ in Elements(written).found]
    assert "img" not in tags and tags.count("script") == 1
    assert "&lt;img src=x" in written


def test_a_doubt_stands_before_the_number(tmp_path: Path) -> None:
    part = sound.excerpt(np.ones((1, 4 * RATE)), RATE, first=0.5, last=3.0)
    weak = {"findings": [{"name": "weak", "p_value": 0.98, "sentence": "."}], "ratios": [[0.8]]}
    page = document.document("clip.wav", RESULT, weak, BOUNCES, part)
    doubt = page.index("This is no ball with a chance of 98 %")
    assert doubt < page.index("<strong>?</strong>") and "<strong>0.8" not in page
    weak["findings"][0]["p_value"] = 0.2
    less = document.document("clip.wav", RESULT, weak, BOUNCES, part)
    assert less.index("with a chance of 20 %") < less.index("<strong>0.800</strong>")
    sure = document.document("clip.wav", RESULT, FINDING, BOUNCES, part)
    assert "This is no ball" not in sure


def test_a_finding_is_text_with_code(page: str) -> None:
    assert "State <code>--ball NAME</code>, &lt;b&gt;not&lt;/b&gt; less." in page


def test_results_of_another_recording_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"of other.wav"):
        document.write(clip(tmp_path / "other.wav"), results(tmp_path))


def test_its_own_program_runs_under_its_policy(page: str, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium to open the page with")
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-audio-output",
        f"--user-data-dir={tmp_path / 'user'}",
    ]
    flags += ["--disable-background-networking", "--no-first-run", "--dump-dom"]
    done = subprocess.run(
        [browser, *flags, (tmp_path / "page.html").as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
    )
    bounces = [a for _, a in Elements(done.stdout).found if a.get("class") == "bounce"]
    assert len(bounces) == 2 * len(BOUNCES)
    assert all(attributes.get("tabindex") == "0" for attributes in bounces)


def test_the_page_says_which_command_made_it() -> None:
    part = sound.excerpt(np.ones((1, 4 * RATE)), RATE, first=0.5, last=3.0)
    named = {"ball": "golf", "diameter": 0.0427, "mass": 0.0459, "air_temperature": 20.0}
    for ball, options in ((RESULT["object"], ""), (named, " --ball golf")):
        page = document.document("my clip.wav", RESULT | {"object": ball}, FINDING, BOUNCES, part)
        assert f"ricochet calibrate &#x27;my clip.wav&#x27;{options} --page</code>" in page
