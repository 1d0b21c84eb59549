"""The verbs of a Dask cluster: its certificates, its scheduler, and workers on any machine."""

import argparse
import os
from pathlib import Path

from ricochet.flows.command_line.number_options import port, whole_number
from ricochet.flows.command_line.verb import Call, Takes, Verb
from ricochet.tasks.cluster import certificates
from ricochet.tasks.console.progress import announce

PORT = 8786


def make_certificates(call: Call) -> None:
    """Make the certificate that all processes of a cluster share."""
    folder = _folder(call)
    certificates.make(folder)
    call.report_line(f"{folder}: who has it belongs to the cluster and may run code on all of it")
    call.report_next("ricochet cluster scheduler")


def scheduler(call: Call) -> None:
    """Be the scheduler until Ctrl-C."""
    certificates.check(_folder(call))
    announce("loading Dask ...")
    from ricochet.tasks.cluster import nodes

    given = call.arguments
    nodes.run_scheduler(given.host, given.port, str(_folder(call)), report_line=call.report_line)


def workers(call: Call) -> None:
    """Be some workers until Ctrl-C."""
    certificates.check(_folder(call))
    announce("loading Dask ...")
    from ricochet.tasks.cluster import nodes

    given = call.arguments
    count = given.workers or os.cpu_count() or 1
    nodes.run_workers(given.address, count, str(_folder(call)), report_line=call.report_line)


def _folder(call: Call) -> Path:
    return certificates.folder_of(call.arguments.certificates or "")


def _certificates_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--certificates", metavar="DIR", help="the cluster's (default: artifacts/cluster)"
    )


def _scheduler_options(parser: argparse.ArgumentParser) -> None:
    _certificates_option(parser)
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: loopback)"
    )
    parser.add_argument(
        "--port", type=port, default=PORT, metavar="N", help=f"default {PORT}; 0: any free"
    )


def _worker_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("address", metavar="ADDRESS", help="of the scheduler, tls://HOST:PORT")
    _certificates_option(parser)
    parser.add_argument(
        "--workers",
        type=whole_number(1, 4096),
        metavar="N",
        help="processes (default: one for each processor)",
    )


VERBS = (
    Verb(
        ("cluster", "certificates"),
        "make the certificate that the processes of a cluster know each other by",
        "ricochet cluster certificates",
        make_certificates,
        _certificates_option,
        takes=Takes(0),
    ),
    Verb(
        ("cluster", "scheduler"),
        "give jobs to workers, until Ctrl-C",
        "ricochet cluster scheduler --host 192.0.2.1",
        scheduler,
        _scheduler_options,
        takes=Takes(0),
    ),
    Verb(
        ("cluster", "worker"),
        "do jobs for a scheduler, one a processor, until Ctrl-C",
        "ricochet cluster worker tls://192.0.2.1:8786 --workers 8",
        workers,
        _worker_options,
        takes=Takes(0),
    ),
)
