import type { Order } from "../store/orders";
import { amount } from "../format/amount";

export function orderText(order: Order, language: string): string {
  const lines = order.lines.map((line) => `${line.text}: ${amount(line.cents, language)}`);
  return [...lines, `Total: ${amount(order.cents, language)}`].join("\n");
}
