import { describe, expect, it } from "vitest";
import { removeSku } from "../web/cart";

describe("cart", () => {
  it("removes a line", async () => {
    const left = await removeSku([{ sku: "a", count: 1 }], "a");
    expect(left).toEqual([]);
  });
});
