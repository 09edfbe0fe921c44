"use strict";

const SPECIAL = /[",\r\n]/g;

/** A value as a field, quoted where it has to be. */
function field(value) {
  const text = value === null || value === undefined ? "" : String(value);
  if (SPECIAL.test(text)) {
    return `"${text.replaceAll('"', '""')}"`;
  }
  return text;
}

/** A row, with its line end. */
function row(values) {
  return `${values.map(field).join(",")}\r\n`;
}

module.exports = { field, row };
