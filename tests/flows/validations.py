"""The steps of `ricochet validate` without Prefect, on a store of the test's own."""

from dataclasses import replace

from ricochet.flows import validate
from ricochet.tasks.registry import promotion
from ricochet.tasks.validation import record

PLAIN = replace(
    validate.DRY,
    record=lambda tracker, made, verdict, files: record.publish(
        tracker, made, verdict, files=files
    ),
    promote=promotion.promote,
)
