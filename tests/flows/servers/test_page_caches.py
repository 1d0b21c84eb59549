"""Prefect's server keeps little of its database in memory, however large that grows."""

import sqlite3

import pytest

from ricochet.flows.servers import serving

configurations = pytest.importorskip("prefect.server.database.configurations")


def test_each_connection_keeps_as_much_as_is_stated(monkeypatch):
    assert callable(configurations.AioSqliteConfiguration.setup_sqlite)

    class AsPrefect:
        def setup_sqlite(self, connection, record):
            connection.execute("PRAGMA cache_size = 20000")

    monkeypatch.setattr(configurations, "AioSqliteConfiguration", AsPrefect)
    serving._bound_page_caches()
    connection = sqlite3.connect(":memory:")
    AsPrefect().setup_sqlite(connection, None)
    assert connection.execute("PRAGMA cache_size").fetchone() == (-serving.PAGES,)
    connection.close()
