/** A real browser in front of the real program. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { createServer, type Server } from "node:http";
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { chromium, type Browser, type ConsoleMessage, type Page } from "playwright-core";
import { expect } from "vitest";
import type { Scripting } from "../../src/scripting";

declare global {
  interface Window {
    muslin: Scripting;
  }
}

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; run these tests by \`cargo xtask test --only page\``);
  return value;
}

/** The program under test, and the page that was built from the sources. */
const PROGRAM = setting("MUSLIN_PROGRAM");
export const PAGE_FOLDER = setting("MUSLIN_PAGE");
/** Where pictures go. */
const PICTURES = process.env["MUSLIN_PICTURES"];

/** A folder of its own for a test. */
export function scratch(): string {
  return mkdtempSync(join(tmpdir(), "muslin-page-"));
}

/** Runs the program to its end; the JSON that it prints. */
export function muslin(...words: string[]): Record<string, unknown> {
  const ended = spawnSync(PROGRAM, words, { encoding: "utf8", timeout: 300_000 });
  expect(ended.status, `muslin ${words.join(" ")}\n${ended.stderr}`).toBe(0);
  return JSON.parse(ended.stdout || "{}") as Record<string, unknown>;
}

export interface View {
  address: string;
  port: number;
  child: ChildProcess;
  stop(): Promise<number | null>;
}

/** `muslin view` with these words. */
export function view(...words: string[]): Promise<View> {
  return viewPage(PAGE_FOLDER, ...words);
}

/** The same with the page of another folder. */
export async function viewPage(folder: string, ...words: string[]): Promise<View> {
  const child = spawn(PROGRAM, ["view", "--no-browser", "--json", "--page", folder, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.includes("\n")) resolve(said);
    });
    child.on("exit", (code) => reject(new Error(`muslin view ended with ${code}: ${complaint}`)));
  });
  const { address, port } = JSON.parse(line) as { address: string; port: number };
  const stop = () =>
    new Promise<number | null>((resolve) => {
      if (child.exitCode !== null) return resolve(child.exitCode);
      child.once("exit", resolve);
      child.kill("SIGINT");
    });
  return { address, port, child, stop };
}

let browser: Promise<Browser> | undefined;

function start(): Promise<Browser> {
  return chromium.launch({
    executablePath: setting("MUSLIN_BROWSER"),
    args: [
      "--no-sandbox",
      "--no-first-run",
      "--disable-quic",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      "--ignore-gpu-blocklist",
    ],
  });
}

export async function stopBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

export interface Tab {
  page: Page;
  /** What the page complained about in the console, and requests that failed. */
  complaints: string[];
  close(): Promise<void>;
}

/** Opens an address and waits until the page says that it is ready. */
export async function open(address: string, size: { width: number; height: number } = { width: 1280, height: 800 }, dark = true): Promise<Tab> {
  browser ??= start();
  const context = await (await browser).newContext({ viewport: size, colorScheme: dark ? "dark" : "light", acceptDownloads: true });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message: ConsoleMessage) => {
    if (message.type() === "error" || message.type() === "warning") {
      // The software renderer of the tests says so of itself.
      if (!/GPU stall|software WebGL|swiftshader|GL Driver Message/i.test(message.text())) complaints.push(message.text());
    }
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(address);
  await ready(page);
  return { page, complaints, close: () => context.close() };
}

export async function ready(page: Page): Promise<void> {
  await page.waitForFunction(() => window.muslin !== undefined);
  await page.evaluate(() => window.muslin.ready);
}

export function state(page: Page): Promise<ReturnType<Scripting["state"]>> {
  return page.evaluate(() => window.muslin.state());
}

export async function positions(page: Page, side = 0): Promise<number[]> {
  return page.evaluate((side) => [...window.muslin.positions(side)], side);
}

/** Stops the simulation and puts it at its start. */
export async function rewind(page: Page): Promise<void> {
  await page.evaluate(async () => {
    window.muslin.pause();
    await window.muslin.reset();
  });
}

/** Steps a simulation that stands. */
export async function steps(page: Page, count: number): Promise<void> {
  await page.evaluate(async (count) => {
    for (let k = 0; k < count; k++) await window.muslin.step();
  }, count);
}

export async function hash(page: Page, side = 0): Promise<{ hash: string; frame: number }> {
  return page.evaluate(async (side) => (await window.muslin.call({ do: "hash" }, side)) as unknown as { hash: string; frame: number }, side);
}

export async function until(what: string, check: () => Promise<boolean>, seconds = 60): Promise<void> {
  const end = Date.now() + 1000 * seconds;
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`waited ${seconds} s in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Keeps a picture of the page, where pictures are wanted. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

/** A frame of a `.npy` of single precision, as `muslin run` writes it. */
export function npyFrame(path: string, frame: number): Float32Array {
  const bytes = readFileSync(path);
  const headerLength = bytes.readUInt16LE(8);
  const header = bytes.subarray(10, 10 + headerLength).toString("latin1");
  const [, frames, vertices] = /'shape': \((\d+), (\d+), 3\)/.exec(header)!.map(Number) as [number, number, number];
  expect(header).toContain("'<f4'");
  expect(frame).toBeLessThan(frames);
  const start = 10 + headerLength + frame * vertices * 12;
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + start + vertices * 12));
}

const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** A host of files that knows nothing of Muslin, and sends no header but the type. */
export async function staticHost(folder: string): Promise<{ address: string; server: Server }> {
  const server = createServer((request, response) => {
    const path = join(folder, new URL(request.url ?? "/", "http://host").pathname.replace(/\/$/, "/index.html"));
    if (!path.startsWith(folder) || !existsSync(path)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "application/octet-stream" }).end(readFileSync(path));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { address: `http://127.0.0.1:${port}/`, server };
}
