import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PAGE_FOLDER, muslin, npyFrame, open, picture, positions, scratch, state, staticHost, stopBrowser, until, view, type Tab, type View } from "./harness";

let out: string;
let served: View;
let tab: Tab;

beforeAll(async () => {
  out = join(scratch(), "swing");
  muslin("run", "hanging", "--set", "solver.substeps=10", "--frames", "40", "--preview", "none", "--formats", "npy,obj", "--json", "--quiet", "--out", out);
  served = await view(out);
  tab = await open(served.address);
});

afterAll(async () => {
  await tab?.close();
  await stopBrowser();
  await served?.stop();
});

const NPY = "sheet.npy";

it.each([0, 17, 40, 3])("shows frame %i as it is in the file", async (frame) => {
  await tab.page.evaluate((frame) => window.muslin.seek(frame), frame);
  await until("the frame is there", async () => (await state(tab.page)).frame === frame);
  expect(await positions(tab.page)).toEqual([...npyFrame(join(out, NPY), frame)]);
  expect(tab.complaints).toEqual([]);
});

it("scrubs by the slider, and plays to the end and around", async () => {
  const scrub = tab.page.locator('#transport input[type="range"]').first();
  await scrub.focus();
  await scrub.press("Home");
  await until("it is at the start", async () => (await state(tab.page)).frame === 0);
  for (let k = 0; k < 5; k++) await scrub.press("ArrowRight");
  await until("it is at frame 5", async () => (await state(tab.page)).frame === 5);
  expect(await positions(tab.page)).toEqual([...npyFrame(join(out, NPY), 5)]);
  await picture(tab.page, "finished-run");
  await tab.page.evaluate(() => window.muslin.play());
  await until("it has come to the second half", async () => (await state(tab.page)).frame > 20);
  await tab.page.evaluate(() => window.muslin.pause());
  expect(tab.complaints).toEqual([]);
});

it("takes a .npy with its .obj that are dropped on the page", async () => {
  const { address, server } = await staticHost(PAGE_FOLDER);
  const plain = await open(address);
  await plain.page.locator("#file").setInputFiles([join(out, NPY), join(out, "sheet.obj")]);
  await until("it is a finished run", async () => (await state(plain.page)).kind === "run");
  await plain.page.evaluate(() => window.muslin.seek(11));
  await until("the frame is there", async () => (await state(plain.page)).frame === 11);
  expect(await positions(plain.page)).toEqual([...npyFrame(join(out, NPY), 11)]);
  await plain.close();
  server.close();
});
