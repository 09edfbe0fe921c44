"use strict";

const { query } = require("./database");

/** The orders of a month, `2025-06`, page by page. */
async function* ordersOf(month) {
  let last = 0;
  for (;;) {
    const rows = await query(
      "SELECT id, customer, note, cents FROM orders WHERE month = $1 AND id > $2 ORDER BY id LIMIT 500",
      [month, last],
    );
    if (rows.length === 0) {
      return;
    }
    yield* rows;
    last = rows[rows.length - 1].id;
  }
}

module.exports = { ordersOf };
