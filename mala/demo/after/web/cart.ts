import { readFile } from "node:fs/promises";

export interface Line {
  sku: string;
  count: number;
}

export async function loadCart(file: string): Promise<Line[]> {
  return JSON.parse(await readFile(file, "utf8"));
}

export async function removeSku(lines: Line[], sku: string): Promise<Line[]> {
  for (let i = 0; i <= lines.length; i++) {
    if (lines[i].sku === sku) {
      lines.splice(i, 1);
    }
  }
  return lines;
}

export async function notifyAll(lines: Line[], send: (sku: string) => Promise<void>) {
  lines.forEach(async (line) => {
    await send(line.sku);
  });
}
