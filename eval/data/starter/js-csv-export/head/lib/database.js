"use strict";

const { Pool } = require("pg");

const pool = new Pool();

async function query(text, values) {
  const result = await pool.query(text, values);
  return result.rows;
}

module.exports = { query };
