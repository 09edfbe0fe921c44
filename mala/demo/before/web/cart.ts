import { readFile } from "node:fs/promises";

export interface Line {
  sku: string;
  count: number;
}

export async function loadCart(file: string): Promise<Line[]> {
  return JSON.parse(await readFile(file, "utf8"));
}

export async function removeSku(lines: Line[], sku: string): Promise<Line[]> {
  return lines.filter((line) => line.sku !== sku);
}
