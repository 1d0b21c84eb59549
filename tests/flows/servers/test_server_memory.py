"""Prefect's server keeps little of its database in memory, and waits little for its locks."""

import asyncio

import pytest
import sqlalchemy

from ricochet.flows.servers import serving

configurations = pytest.importorskip("prefect.server.database.configurations")


def test_each_connection_keeps_as_much_as_is_stated(monkeypatch, tmp_path):
    """Prefect's own configuration connects; both of its names are put back after the test."""
    configured = configurations.AioSqliteConfiguration
    monkeypatch.setattr(configured, "setup_sqlite", configured.setup_sqlite)
    asked = []
    create = configurations.create_async_engine

    def noted(address, **options):
        asked.append(options.get("connect_args"))
        return create(address, **options)

    monkeypatch.setattr(configurations, "create_async_engine", noted)
    serving._bound_connections()

    async def connected():
        engine = await configured(f"sqlite+aiosqlite:///{tmp_path / 'a.db'}", timeout=5).engine()
        async with engine.connect() as connection:
            asked = map(sqlalchemy.text, ("PRAGMA cache_size", "PRAGMA busy_timeout"))
            found = [(await connection.execute(each)).scalar() for each in asked]
        await engine.dispose()
        return found

    assert asyncio.run(connected()) == [-serving.PAGES, serving.PATIENCE]
    assert asked == [{"timeout": 5, "cached_statements": serving.STATEMENTS}]
    other = sqlalchemy.make_url("postgresql+asyncpg://a@127.0.0.1/b")
    configurations.create_async_engine(other)
    assert asked[1] is None
