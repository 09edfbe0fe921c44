// Opens a page in a real browser, in several views, and prints as JSON what it saw of it.
//
//     node page.mjs TOOLS PAGE
import { createRequire } from "node:module";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [tools, file] = process.argv.slice(2);
const { chromium } = createRequire(join(tools, "node_modules/"))("playwright-core");

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const VIEWS = [
  { name: "light", colorScheme: "light", width: 1240 },
  { name: "dark", colorScheme: "dark", width: 1240 },
  { name: "light narrow", colorScheme: "light", width: 400 },
  { name: "dark narrow", colorScheme: "dark", width: 400 },
  { name: "print", colorScheme: "light", width: 760, media: "print" },
];

// Runs in the page: sizes of plots, what is wider than the page, and text that is hard to read.
function look() {
  const channels = (color) => (color.match(/[\d.]+/g) || []).map(Number);
  const luminance = ([r, g, b]) => {
    const part = (value) => {
      const unit = value / 255;
      return unit <= 0.03928 ? unit / 12.92 : ((unit + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = channels(getComputedStyle(at).backgroundColor);
      if (a > 0 && r !== undefined) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const box = element.getBoundingClientRect();
    if (!node.textContent.trim() || box.width <= 1 || box.height <= 1 || element.closest("title, desc")) continue;
    const style = getComputedStyle(element);
    const ink = channels(element.closest("svg") ? style.fill : style.color);
    const [light, dark] = [luminance(ink), luminance(behind(element))].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) faint.push(`${element.className.baseVal ?? element.className} ${contrast.toFixed(2)}`);
  }
  const box = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return { width, height };
  };
  const plots = {};
  for (const svg of document.querySelectorAll("figure .canvas svg")) {
    const marks = [...svg.querySelectorAll("circle, path, rect, polygon")].filter((mark) => {
      const { width, height } = box(mark);
      return width > 0 || height > 0;
    });
    plots[svg.closest("figure").id] = { ...box(svg), marks: marks.length };
  }
  const cut = [...document.querySelectorAll("figure .canvas svg text")].filter((text) => {
    const [inner, outer] = [text.getBoundingClientRect(), text.closest("svg").getBoundingClientRect()];
    return inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.bottom > outer.bottom + 1;
  });
  return {
    plots,
    cut: cut.map((text) => text.textContent),
    bars: [...document.querySelectorAll("svg.bar")].map(box),
    faint: [...new Set(faint)],
    scripts: document.scripts.length,
    unnamed: [...document.querySelectorAll("svg[role=img], table")].filter((element) => {
      const name = element.querySelector(":scope > title, :scope > caption");
      return !name || !name.textContent.trim();
    }).length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    background: getComputedStyle(document.body).backgroundColor,
    text: document.body.innerText,
  };
}

async function seen(browser, view) {
  const context = await browser.newContext({
    viewport: { width: view.width, height: 900 },
    colorScheme: view.colorScheme,
  });
  const page = await context.newPage();
  const own = pathToFileURL(file).href;
  const [said, asked] = [[], []];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(`error: ${error}`));
  page.on("dialog", (dialog) => {
    said.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== own) asked.push(request.url());
  });
  await page.goto(own, { waitUntil: "load" });
  if (view.media) await page.emulateMedia({ media: view.media });
  const closed = await page.evaluate(look);
  await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
  const open = await page.evaluate(look);
  const shown = {};
  if (!view.media) {
    for (const id of ["missed", "alarm", "unreviewed", "clean", "all"]) {
      await page.locator(`label[for=only-${id}]`).click();
      shown[id] = await page.locator(".case:visible").count();
    }
  }
  await context.close();
  return { name: view.name, said, asked, closed, open, shown };
}

const profile = mkdtempSync(join(tmpdir(), "mala-browser-"));
const browser = await chromium.launch({
  executablePath: join(tools, "chromium"),
  args: FLAGS,
  env: { ...process.env, HOME: profile },
});
try {
  const views = [];
  for (const view of VIEWS) views.push(await seen(browser, view));
  console.log(JSON.stringify(views));
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
