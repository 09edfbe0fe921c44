// An emulator of GitHub on a free port of loopback: `emulator.mjs MODULE SEED`. Prints its URL. Then each line of
// stdin is a request as JSON (token, method, path, body), and its answer (status, body) is printed on a line.
import { createServer } from "node:net";
import { createInterface } from "node:readline";

const [module, seed] = process.argv.slice(2);
const { createEmulator } = await import(module);
const port = await new Promise((resolve) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});
await createEmulator({ service: "github", port, seed: JSON.parse(seed) });
const url = `http://127.0.0.1:${port}`;
console.log(url);
for await (const line of createInterface({ input: process.stdin })) {
  const { token, method, path, body } = JSON.parse(line);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const sent = { method, headers, body: body === null ? undefined : JSON.stringify(body) };
  const answer = await fetch(url + path, sent);
  const text = await answer.text();
  console.log(JSON.stringify({ status: answer.status, body: text ? JSON.parse(text) : null }));
}
process.exit(0);
