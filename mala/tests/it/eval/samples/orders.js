'use strict';

const fs = require('node:fs/promises');

class Missing extends Error {}

async function load(path) {
  const handle = await fs.open(path);
  const text = await handle.readFile('utf8');
  await handle.close();
  return JSON.parse(text);
}

async function find(path, key) {
  try {
    const rows = await load(path);
    if (!(key in rows)) throw new Missing(key);
    return await check(rows, key);
  } catch (error) {
    if (!(error instanceof Missing)) {
      throw error;
    }
    return null;
  }
}

async function check(rows, key) {
  return rows[key];
}

function page(rows, start, count) {
  if (start < 0) {
    throw new RangeError('start');
  }
  const found = [];
  for (let i = start; i < start + count; i++) {
    if (i >= rows.length) break;
    found.push(rows[i]);
  }
  return found.slice(0, count);
}

function transfer(accounts, source, target, amount) {
  if (source === target) {
    return false;
  }
  move(accounts, source, target, amount);
  return true;
}

function move(accounts, source, target, amount) {
  accounts[source] -= amount;
  accounts[target] += amount;
}

async function publish(queue, orders) {
  for (const order of orders) {
    if (order.paid) {
      await queue.put(order);
    }
  }
}

module.exports = { find, page, transfer, publish };
