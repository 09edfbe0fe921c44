#!/usr/bin/env node
"use strict";

const { exportOrders } = require("../lib/export");

async function main() {
  const [month, file] = process.argv.slice(2);
  if (!/^\d{4}-\d{2}$/.test(month ?? "") || !file) {
    process.stderr.write("usage: export YYYY-MM FILE\n");
    process.exitCode = 64;
    return;
  }
  const count = await exportOrders(month, file);
  process.stdout.write(`${count} orders in ${file}\n`);
}

main().catch((error) => {
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = 1;
});
