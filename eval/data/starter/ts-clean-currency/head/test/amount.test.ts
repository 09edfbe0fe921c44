import { strict as assert } from "node:assert";
import { test } from "node:test";
import { amount } from "../src/format/amount";

test("an amount is written as in the language", () => {
  assert.match(amount(123456, "en-IE"), /1,234\.56/);
  assert.match(amount(123456, "de-DE"), /1\.234,56/);
});

test("cents are kept", () => {
  assert.match(amount(5, "en-IE"), /0\.05/);
});
