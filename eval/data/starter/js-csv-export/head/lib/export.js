"use strict";

const { createWriteStream } = require("node:fs");
const { once } = require("node:events");
const { ordersOf } = require("./orders");
const { row } = require("./csv");

/** Writes the orders of a month to a file; resolves with how many there are. */
async function exportOrders(month, file) {
  const out = createWriteStream(file);
  out.write(row(["id", "customer", "note", "amount"]));
  let count = 0;
  for await (const order of ordersOf(month)) {
    const amount = (order.cents / 100).toFixed(2);
    if (!out.write(row([order.id, order.customer, order.note, amount]))) {
      await once(out, "drain");
    }
    count += 1;
  }
  out.end();
  return count;
}

module.exports = { exportOrders };
