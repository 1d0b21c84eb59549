"""The limits of what is read: sizes, counts, depths, lengths and ranges.

Those of one reader alone stand beside it: what a decoder, a compiler or DVC may take.

A reader checks them before it reads or allocates what they bound, so that refusing a file takes at
most a gigabyte. What is registered has limits of its own (`tasks/registry`).
"""

TEXT = 2**24
"""Bytes of a file of JSON or XML: a manifest, a result, a model."""
MANIFEST, FILES = 2**26, 200_000
"""Bytes of the manifest of a backup, and files that it names."""
LOG, LOG_LINE = 2**24, 2**14
"""Bytes of the log of promotions, and of a line of it that is read."""
JOURNAL, JOURNAL_LINES = 2**26, 100_000
"""Bytes of a journal of jobs or of a search, and lines of the latter."""
SETTINGS = 2**18
"""Bytes of a file of YAML, and characters of a `--set`."""
TABLE = 2**25
"""Bytes of a file of commas."""
SOUND, LOSSY = 2**28, 2**25
"""Bytes of a file of sound, and of one coded with loss (OGG, MP3), whose decoder keeps each of its
comments before it says how long it is: two bytes a sample of the longest recording."""
ARRAYS = 2**27
"""Bytes of an archive of arrays, packed or unpacked."""

VALUES = 650_000
"""In the lists and objects of JSON."""
PARSED = 2**28
"""Bytes of memory that a journal takes once it is parsed."""
DEPTH = 32
"""Lists and objects within one another, in JSON and YAML."""
DIGITS = 300
"""Of a number in JSON or YAML: whatever has fewer is no more than a double holds."""
LONGEST = 4096
"""Characters of a text: a path."""

ROWS = 500_000
COLUMNS = 1000
CELLS = 3_000_000

UNITS = 1024
"""Of a layer of a network that is trained, or comes in a package that an arm moves by."""
TAKES = 10_000
"""Of a session."""
CHANNELS = 64
"""Of a recording, and so microphones of a rig."""
SAMPLES = 2**24
"""Of a recording, in all channels together: at 48 kHz 5.8 minutes of one and 50 s of seven, whose
bounces take up to a gigabyte to find."""
KEPT = 2**26
"""Samples of a session that are kept at a time, of all takes: 10 minutes of seven at 16 kHz."""
DURATION = 1200.0
"""s, of a recording: bounces are looked for at every quarter of a millisecond."""
RATES = (8000, 384_000)
"""Hz; below the first clicks are not detected apart."""
FARTHEST, APART = 50.0, 10.0
"""m, of a coordinate of a microphone, and between two: what is heard by one is sought at all others
for as long as sound takes between them."""
COLDEST, HOTTEST = -40.0, 60.0
"""Degrees Celsius, of the air."""
LOSSES = 10**9
"""Gaps of a take."""
