"""Rows of the database."""

from dataclasses import asdict

ROWS: dict[tuple[str, int], dict] = {}


def update(table: str, row) -> None:
    ROWS[(table, row.id)] = asdict(row)
