"""Settings of DVC for a remote."""

CONFIG = """[core]
    analytics = false
    remote = lab
['remote "lab"']
    url = ../store
"""
