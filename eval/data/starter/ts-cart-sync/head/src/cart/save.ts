import type { Cart } from "./state";
import { sync, type Server } from "./sync";

export interface Notice {
  show(text: string): void;
}

/** Saves a change of the cart, and tells the user when that is not possible. */
export async function save(
  before: Cart,
  after: Cart,
  server: Server,
  notice: Notice,
): Promise<boolean> {
  try {
    await sync(before, after, server);
    return true;
  } catch (error) {
    console.error("saving the cart", error);
    notice.show("Your cart could not be saved. It is still here.");
    return false;
  }
}
