"""Orders in the database."""

import logging

log = logging.getLogger(__name__)


def find_order(db, order_id):
    """One order, or None."""
    row = db.execute("SELECT * FROM orders WHERE id = ?", (order_id,)).fetchone()
    return dict(row) if row else None


def export_orders(db, path):
    """Writes all orders to a file."""
    with open(path, "w", encoding="utf-8") as out:
        for row in db.execute("SELECT * FROM orders"):
            out.write(f"{row['id']},{row['cents']}\n")
