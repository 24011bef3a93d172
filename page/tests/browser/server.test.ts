import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { muslin, open, scratch, state, staticHost, stopBrowser, view, PAGE_FOLDER, type View } from "./harness";

let out: string;
let served: View;

beforeAll(async () => {
  const folder = scratch();
  out = join(folder, "run");
  muslin("run", "hanging", "--frames", "2", "--preview", "none", "--json", "--quiet", "--out", out);
  writeFileSync(join(folder, "secret.npy"), "not yours");
  symlinkSync(join(folder, "secret.npy"), join(out, "link.npy"));
  mkdirSync(join(folder, "other"));
  served = await view(out);
});

afterAll(async () => {
  await stopBrowser();
  await served?.stop();
});

/** Without the help of `fetch`, which tidies paths before it sends them. */
function get(path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ host: "127.0.0.1", port: served.port, path, headers }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => (body += text));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    asked.on("error", reject).end();
  });
}

const below = () => new URL(served.address).pathname;

it("serves what was opened", async () => {
  expect((await get(`${below()}api/files/scene.toml`)).status).toBe(200);
});

it("refuses every path that leads out of the folder", async () => {
  const paths = ["../secret.npy", "%2e%2e/secret.npy", "..%2fsecret.npy", "..%5csecret.npy", "link.npy", "/etc/passwd", "%2fetc%2fpasswd", "./../run/../secret.npy"];
  for (const path of paths) {
    const { status, body } = await get(`${below()}api/files/${path}`);
    expect([400, 403, 404], path).toContain(status);
    expect(body, path).not.toContain("not yours");
    expect(body, path).not.toContain("root:");
  }
});

it("refuses who does not know the token, and foreign origins and hosts", async () => {
  expect((await get("/")).status).toBe(404);
  expect((await get("/0123456789abcdef0123456789abcdef/api/info")).status).toBe(404);
  expect((await get(`${below()}api/info`, { Origin: "https://example.com" })).status).toBe(403);
  expect((await get(`${below()}api/info`, { Host: "example.com" })).status).toBe(403);
  expect((await get(`${below()}api/info`, { Origin: `http://127.0.0.1:${served.port}` })).status).toBe(200);
});

it("gives nothing to a page of another origin in the same browser", async () => {
  const { address, server } = await staticHost(PAGE_FOLDER);
  const foreign = await open(address);
  const outcome = await foreign.page.evaluate(async (target) => {
    const ways: RequestInit[] = [{}, { method: "POST", body: "{}" }, { mode: "no-cors" }];
    const seen: string[] = [];
    for (const way of ways) {
      try {
        const response = await fetch(target, way);
        seen.push(`${response.type} ${response.status} ${(await response.text()).length}`);
      } catch {
        seen.push("refused");
      }
    }
    return seen;
  }, `${served.address}api/info`);
  // Without cors a page learns nothing of what came back.
  expect(outcome[0]).toBe("refused");
  expect(outcome[1]).toBe("refused");
  expect(["refused", "opaque 0 0"]).toContain(outcome[2]);
  await foreign.close();
  server.close();
});

it("listens on this machine alone", () => {
  const sockets = spawnSync("sh", ["-c", "cat /proc/net/tcp /proc/net/tcp6"], { encoding: "utf8" }).stdout;
  const port = served.port.toString(16).toUpperCase().padStart(4, "0");
  const listening = sockets.split("\n").filter((line) => line.includes(`:${port} `) && / 0A /.test(line));
  expect(listening.length).toBe(1);
  expect(listening[0]).toContain(`0100007F:${port}`);
});

it("shows the run that was opened", async () => {
  const tab = await open(served.address);
  expect(await state(tab.page)).toMatchObject({ kind: "run" });
  expect(tab.complaints).toEqual([]);
  await tab.close();
});
