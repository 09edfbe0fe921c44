#!/usr/bin/env node
// Takes a picture of a page with the machine's Chromium; scripts/install-tools brings what drives it.
//
//     scripts/screenshot PAGE.html PICTURE.png [--width N] [--dark] [--to SELECTOR]
//
// It shows the whole page; with --to, it ends below that element.
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const tools = join(dirname(fileURLToPath(import.meta.url)), "../.tools/browser");
const { chromium } = createRequire(join(tools, "node_modules/"))("playwright-core");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    width: { type: "string", default: "1240" },
    dark: { type: "boolean", default: false },
    to: { type: "string" },
  },
});
const [page, picture] = positionals;
if (!picture) {
  console.error("usage: scripts/screenshot PAGE.html PICTURE.png [--width N] [--dark] [--to SELECTOR]");
  process.exit(64);
}

const browser = await chromium.launch({
  executablePath: join(tools, "chromium"),
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
try {
  const width = Number(values.width);
  const tab = await browser.newPage({
    viewport: { width, height: 900 },
    colorScheme: values.dark ? "dark" : "light",
  });
  await tab.goto(pathToFileURL(resolve(page)).href);
  const all = await tab.evaluate(() => document.documentElement.scrollHeight);
  const last = values.to ? await tab.locator(values.to).boundingBox() : null;
  const height = last ? Math.min(Math.ceil(last.y + last.height) + 24, all) : all;
  await tab.screenshot({ path: picture, fullPage: true, clip: { x: 0, y: 0, width, height } });
} finally {
  await browser.close();
}
