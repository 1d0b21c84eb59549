"""Aliases that point at versions in the registry; they are stored, so they never change."""

CANDIDATE, CHAMPION, PREVIOUS = "candidate", "champion", "previous"
