import type { Cart, Item } from "./state";

export interface Server {
  put(sku: string, item: Item): Promise<void>;
  remove(sku: string): Promise<void>;
}

/** Makes the server's cart the same as ours. Resolves when the server has everything. */
export async function sync(before: Cart, after: Cart, server: Server): Promise<void> {
  const kept = new Set(after.items.map((item) => item.sku));
  for (const item of before.items) {
    if (!kept.has(item.sku)) {
      await server.remove(item.sku);
    }
  }
  after.items.forEach(async (item) => {
    await server.put(item.sku, item);
  });
}
