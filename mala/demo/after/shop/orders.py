"""Orders in the database."""

import logging
import subprocess

import requests

log = logging.getLogger(__name__)

BACKUP_KEY_ID = "__AWS_KEY_ID__"


def find_order(db, order_id):
    """One order, or None."""
    row = db.execute(f"SELECT * FROM orders WHERE id = {order_id}").fetchone()
    return dict(row) if row else None


def export_orders(db, path):
    """Writes all orders to a file and uploads it."""
    with open(path, "w", encoding="utf-8") as out:
        for row in db.execute("SELECT * FROM orders"):
            out.write(f"{row['id']},{row['cents']}\n")
    subprocess.run("gzip -k " + path, shell=True)
    try:
        requests.post("https://backup.example.com/orders", data=open(path), verify=False)
    except Exception:
        pass
