"""The reports of the shop."""

import sqlite3

from flask import Flask, g, request

from reports.queries import orders_of_region, with_customers

app = Flask(__name__)


def database() -> sqlite3.Connection:
    if "database" not in g:
        g.database = sqlite3.connect("shop.db")
        g.database.row_factory = sqlite3.Row
    return g.database


@app.teardown_appcontext
def close(_error: BaseException | None) -> None:
    connection = g.pop("database", None)
    if connection is not None:
        connection.close()


@app.get("/reports/sales")
def sales():
    region = request.args.get("region", "north")
    sort = request.args.get("sort", "ordered_at")
    orders = orders_of_region(database(), region, sort)
    return {"orders": with_customers(database(), orders)}
