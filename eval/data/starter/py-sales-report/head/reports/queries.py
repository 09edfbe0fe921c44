"""What the reports ask the database."""

import sqlite3


def orders_of_region(
    connection: sqlite3.Connection, region: str, sort: str
) -> list[sqlite3.Row]:
    query = f"SELECT id, customer_id, amount, ordered_at FROM orders WHERE region = ? ORDER BY {sort}"
    return connection.execute(query, (region,)).fetchall()


def with_customers(
    connection: sqlite3.Connection, orders: list[sqlite3.Row]
) -> list[dict]:
    """The orders with the names of their customers."""
    rows = []
    for order in orders:
        customer = connection.execute(
            "SELECT name FROM customers WHERE id = ?", (order["customer_id"],)
        ).fetchone()
        rows.append(
            {
                "id": order["id"],
                "amount": order["amount"],
                "ordered_at": order["ordered_at"],
                "customer": customer["name"] if customer else "deleted",
            }
        )
    return rows
