/** The page of a fresh clone: without WebAssembly, in front of the program that simulates for it. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PAGE_FOLDER, hash, muslin, npyFrame, open, picture, positions, rewind, scratch, state, staticHost, steps, stopBrowser, until, viewPage, type View } from "./harness";

let bare: string;
const servers: View[] = [];

async function serve(...words: string[]): Promise<View> {
  const served = await viewPage(bare, ...words);
  servers.push(served);
  return served;
}

beforeAll(() => {
  bare = join(scratch(), "page");
  cpSync(PAGE_FOLDER, bare, { recursive: true, filter: (path) => !path.endsWith(".wasm.gz") });
});
afterAll(async () => {
  await stopBrowser();
  for (const served of servers) await served.stop();
});

it("simulates on the machine, without a complaint and without a choice", async () => {
  const served = await serve("drape");
  // What was asked for in the address cannot be had; the page takes what there is.
  const tab = await open(`${served.address}?place=page`);
  await until("the cloth moves", async () => (await state(tab.page)).frame > 20);
  expect(await state(tab.page)).toMatchObject({ place: "machine", scene: "drape", message: "", playing: true });
  expect(await tab.page.locator("#section-place").isHidden()).toBe(true);
  expect(await tab.page.locator("#cost").textContent()).toContain("computed on this machine");
  await picture(tab.page, "native");
  await rewind(tab.page);
  await steps(tab.page, 10);
  const report = muslin("run", "drape", "--frames", "10", "--preview", "none", "--json", "--quiet", "--out", join(scratch(), "o"));
  expect(await hash(tab.page)).toMatchObject({ hash: report["state_hash"], frame: 10 });
  await tab.page.locator("#sides").click();
  await until("there are two sides", async () => (await state(tab.page)).sides === 2);
  await steps(tab.page, 2);
  expect((await hash(tab.page, 1)).hash).toBe((await hash(tab.page, 0)).hash);
  expect(tab.complaints).toEqual([]);
  await tab.close();
});

it("shows a finished run, whose files the machine reads", async () => {
  const out = join(scratch(), "tunic");
  const report = muslin("run", "tunic", "--frames", "4", "--preview", "none", "--formats", "npy,obj", "--json", "--quiet", "--out", out);
  const served = await serve(out);
  const tab = await open(served.address);
  await tab.page.evaluate(() => window.muslin.seek(4));
  await until("the frame is there", async () => (await state(tab.page)).frame === 4);
  const [cloth] = report["cloths"] as { name: string }[];
  expect(await positions(tab.page)).toEqual([...npyFrame(join(out, `${cloth!.name}.npy`), 4)]);
  expect(await state(tab.page)).toMatchObject({ kind: "run", message: "" });
  expect(tab.complaints).toEqual([]);
  await tab.close();
});

it("says so when the program goes away, and does not look for a core that it lacks", async () => {
  const served = await serve("hanging");
  const tab = await open(served.address);
  await until("it moves", async () => (await state(tab.page)).frame > 2);
  await served.stop();
  await until("the page says it", async () => (await state(tab.page)).message.includes("muslin view"));
  await tab.page.waitForTimeout(6000);
  expect(tab.complaints.filter((text) => text.includes("wasm"))).toEqual([]);
  expect((await state(tab.page)).message).toContain("muslin view");
  await tab.close();
});

it("says on a static host what is missing", async () => {
  const { address, server } = await staticHost(bare);
  const tab = await open(address);
  expect((await state(tab.page)).message).toContain("cargo xtask page");
  await tab.close();
  server.close();
});
