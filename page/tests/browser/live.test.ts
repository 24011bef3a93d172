import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  PAGE_FOLDER,
  hash,
  muslin,
  npyFrame,
  open,
  picture,
  positions,
  rewind,
  scratch,
  state,
  staticHost,
  steps,
  stopBrowser,
  until,
  view,
  type Tab,
  type View,
} from "./harness";

/** Presses a button of the section that may be folded. */
function save(page: Page, kind: string): Promise<void> {
  return page.locator(`#save-${kind}`).evaluate((button) => (button as HTMLButtonElement).click());
}

async function colorBy(page: Page, value: string): Promise<void> {
  await page.locator("#look-color").evaluate((select, value) => {
    (select as HTMLSelectElement).value = value;
    select.dispatchEvent(new Event("change"));
  }, value);
}

let served: View;
let tab: Tab;

beforeAll(async () => {
  served = await view("hanging", "--set", "solver.substeps=20");
  tab = await open(served.address);
});

afterAll(async () => {
  await tab?.close();
  await stopBrowser();
  expect(await served?.stop()).toBe(0);
});

describe("a scene that runs in the page", () => {
  it("loads without a complaint, on threads, and the cloth moves", async () => {
    const before = await positions(tab.page);
    await tab.page.evaluate(() => window.muslin.play());
    await until("the cloth moves", async () => (await state(tab.page)).frame > 5);
    const after = await positions(tab.page);
    expect(after.length).toBe(before.length);
    expect(after).not.toEqual(before);
    const now = await state(tab.page);
    expect(now).toMatchObject({ place: "page", scene: "hanging", message: "" });
    expect(now.threads).toBe(await tab.page.evaluate(() => Math.min(8, navigator.hardwareConcurrency)));
    expect(await tab.page.locator("#rate").textContent()).toMatch(/fps|frames|Hz|\/s/);
    await picture(tab.page, "hanging");
    expect(tab.complaints).toEqual([]);
  });

  it("moves as on the command line, to the last bit", async () => {
    await rewind(tab.page);
    await steps(tab.page, 12);
    const report = muslin("run", "hanging", "--set", "solver.substeps=20", "--frames", "12", "--preview", "none", "--json", "--quiet", "--out", join(scratch(), "o"));
    expect(await hash(tab.page)).toMatchObject({ hash: report["state_hash"], frame: 12 });
  });

  it.each(["pbd", "vbd", "projective", "explicit", "shape_matching"])("moves as on the command line with %s", async (solver) => {
    const set = `solver={ kind = "${solver}" }`;
    await tab.page.evaluate(() => window.muslin.pause());
    const reply = await tab.page.evaluate(async (sets) => window.muslin.call({ do: "set", sets }), ["cloth.0.grid.cells=[20,20]", set]);
    expect(reply.message).toBeUndefined();
    await rewind(tab.page);
    await steps(tab.page, 6);
    const words = ["--set", "cloth.0.grid.cells=[20,20]", "--set", set, "--frames", "6"];
    const report = muslin("run", "hanging", ...words, "--preview", "none", "--json", "--quiet", "--out", join(scratch(), "o"));
    expect(await hash(tab.page)).toMatchObject({ hash: report["state_hash"], frame: 6 });
  });

  it("is taken by hand: the grabbed point follows the pointer", async () => {
    await tab.page.evaluate(() => window.muslin.load("hanging"));
    await rewind(tab.page);
    await steps(tab.page, 3);
    const vertex = 900;
    const at = await tab.page.evaluate((v) => window.muslin.project(v), vertex);
    const place = (p: number[]) => p.slice(3 * vertex, 3 * vertex + 3) as [number, number, number];
    const before = place(await positions(tab.page));
    await tab.page.mouse.move(at.x, at.y);
    await tab.page.mouse.down();
    await tab.page.mouse.move(at.x + 60, at.y - 90, { steps: 8 });
    await steps(tab.page, 15);
    const held = place(await positions(tab.page));
    expect(held[1]).toBeGreaterThan(before[1] + 0.05);
    // It is below the pointer.
    const now = await tab.page.evaluate((v) => window.muslin.project(v), vertex);
    expect(Math.hypot(now.x - at.x - 60, now.y - at.y + 90)).toBeLessThan(6);
    await picture(tab.page, "grab");
    await tab.page.mouse.up();
    await steps(tab.page, 15);
    expect(place(await positions(tab.page))[1]).toBeLessThan(held[1] - 0.01);
  });

  it("is pinned and freed by a click", async () => {
    await rewind(tab.page);
    await steps(tab.page, 2);
    const vertex = 860;
    const click = async () => {
      const at = await tab.page.evaluate((v) => window.muslin.project(v), vertex);
      await tab.page.mouse.click(at.x, at.y);
    };
    const pinned = async () => (await tab.page.evaluate(async () => window.muslin.call({ do: "toml" })))["toml"] as string;
    const before = await pinned();
    await click();
    await until("the pin is part of the scene", async () => new RegExp(`vertices = \\[[^\\]]*\\b${vertex}\\b`).test(await pinned()));
    const place = (p: number[]) => p.slice(3 * vertex, 3 * vertex + 3);
    const there = place(await positions(tab.page));
    await steps(tab.page, 5);
    expect(place(await positions(tab.page))).toEqual(there);
    await click();
    await until("the pin is gone", async () => (await pinned()) === before);
  });

  it("moves otherwise after a slider was moved", async () => {
    await rewind(tab.page);
    await steps(tab.page, 10);
    const usual = await positions(tab.page);
    await rewind(tab.page);
    const control = tab.page.locator('[data-path="cloth.0.material.density"]');
    await control.scrollIntoViewIfNeeded();
    const slider = control.locator('input[type="range"]');
    await slider.focus();
    for (let k = 0; k < 40; k++) await slider.press("ArrowRight");
    const values = async () => (await tab.page.evaluate(async () => window.muslin.call({ do: "toml" })))["toml"] as string;
    const shown = Number(await control.locator('input[type="text"]').inputValue());
    await until("the value is in force", async () => Number(/^density = (.*)$/m.exec(await values())![1]).toPrecision(3) === shown.toPrecision(3));
    await steps(tab.page, 10);
    expect(await positions(tab.page)).not.toEqual(usual);
  });

  it("refuses a wrong value in its place, with the library's words", async () => {
    const control = tab.page.locator('[data-path="cloth.0.material.density"]');
    const input = control.locator('input[type="text"]');
    await input.fill("-2");
    await input.press("Enter");
    await until("the message appears", async () => ((await control.locator('[role="status"]').textContent()) ?? "").includes("must be a finite number greater than 0, got -2"));
    const text = (await tab.page.evaluate(async () => window.muslin.call({ do: "toml" })))["toml"] as string;
    expect(text).not.toContain("density = -2");
    await picture(tab.page, "refused");
    await input.press("Escape");
  });

  it("exports a scene that runs to the same state on the command line", async () => {
    await tab.page.evaluate(async () => window.muslin.call({ do: "set", sets: ["cloth.0.material.fabric=wool", "gravity=[0,-5,0.5]"] }));
    await tab.page.evaluate(async () => window.muslin.call({ do: "pin", vertex: 700 }));
    await rewind(tab.page);
    await steps(tab.page, 8);
    const here = await hash(tab.page);
    const [download] = await Promise.all([tab.page.waitForEvent("download"), save(tab.page, "toml")]);
    const path = join(scratch(), download.suggestedFilename());
    expect(path).toMatch(/\.toml$/);
    await download.saveAs(path);
    const report = muslin("run", path, "--frames", "8", "--preview", "none", "--json", "--quiet", "--out", join(scratch(), "o"));
    expect(here).toMatchObject({ hash: report["state_hash"], frame: 8 });
  });

  it("exports the mesh and a picture", async () => {
    for (const [kind, start] of [["glb", "glTF"], ["png", "\u0089PNG"]] as const) {
      const [download] = await Promise.all([tab.page.waitForEvent("download"), save(tab.page, kind)]);
      const path = join(scratch(), download.suggestedFilename());
      await download.saveAs(path);
      const bytes = readFileSync(path);
      expect(bytes.subarray(0, 4).toString("latin1")).toBe(start);
      expect(bytes.length).toBeGreaterThan(5000);
    }
  });

  it("records a video of the canvas", async () => {
    await tab.page.evaluate(() => window.muslin.play());
    await save(tab.page, "video");
    await tab.page.waitForTimeout(2500);
    const [download] = await Promise.all([tab.page.waitForEvent("download"), save(tab.page, "video")]);
    await tab.page.evaluate(() => window.muslin.pause());
    const path = join(scratch(), download.suggestedFilename());
    expect(path).toMatch(/\.webm$/);
    await download.saveAs(path);
    const bytes = readFileSync(path);
    // EBML, the container of WebM, with pictures in it.
    expect(bytes.subarray(0, 4).toString("hex")).toBe("1a45dfa3");
    expect(bytes.toString("latin1")).toMatch(/V_VP[89]/);
    expect(bytes.length).toBeGreaterThan(10_000);
  });

  it("shows strain with a legend", async () => {
    await tab.page.evaluate(() => window.muslin.load("drape"));
    await tab.page.evaluate(() => window.muslin.play());
    await colorBy(tab.page, "strain");
    await until("it has fallen", async () => (await state(tab.page)).frame > 40, 120);
    await tab.page.evaluate(() => window.muslin.pause());
    expect(await tab.page.locator("#legend").textContent()).toMatch(/strain/i);
    await picture(tab.page, "strain");
    await colorBy(tab.page, "none");
    await picture(tab.page, "drape");
    expect(tab.complaints).toEqual([]);
  });

  it("shows two solvers side by side at the same time", async () => {
    await tab.page.evaluate(() => window.muslin.load("hanging"));
    await tab.page.locator("#sides").click();
    await until("there are two", async () => (await state(tab.page)).sides === 2);
    await tab.page.evaluate(async () => window.muslin.call({ do: "set", sets: ["cloth.0.material.stretch.stiffness=60"] }, 1));
    await rewind(tab.page);
    await steps(tab.page, 20);
    const [first, second] = [await hash(tab.page, 0), await hash(tab.page, 1)];
    expect(first.frame).toBe(20);
    expect(second.frame).toBe(20);
    expect(first.hash).not.toBe(second.hash);
    await picture(tab.page, "side-by-side");
    await tab.page.locator("#sides").click();
    await until("there is one", async () => (await state(tab.page)).sides === 1);
    expect(tab.complaints).toEqual([]);
  });

  it("helps, and is usable by keys", async () => {
    await tab.page.locator("#canvas").focus();
    await tab.page.keyboard.press("?");
    expect(await tab.page.locator("#sheet").isVisible()).toBe(true);
    await picture(tab.page, "help");
    await tab.page.keyboard.press("Escape");
    expect(await tab.page.locator("#sheet").isVisible()).toBe(false);
    await tab.page.evaluate(() => window.muslin.pause());
    await tab.page.locator("#canvas").focus();
    await tab.page.keyboard.press("Space");
    await until("it plays", async () => (await state(tab.page)).playing);
    await tab.page.keyboard.press("Space");
    await until("it stands", async () => !(await state(tab.page)).playing);
  });
});

it("works from a static host without headers, on one thread", async () => {
  const { address, server } = await staticHost(PAGE_FOLDER);
  const plain = await open(address, { width: 390, height: 844 }, false);
  await plain.page.evaluate(() => window.muslin.play());
  await until("the cloth moves", async () => (await state(plain.page)).frame > 3);
  expect(await state(plain.page)).toMatchObject({ place: "page", threads: 1, message: "" });
  await picture(plain.page, "phone");
  // It has asked for api/info, which is not there; that alone is no fault.
  expect(plain.complaints.filter((text) => !text.includes("404"))).toEqual([]);
  await plain.close();
  server.close();
});

it("runs newton within a micrometre of the command line", async () => {
  await tab.page.evaluate(() => window.muslin.load("hanging"));
  const sets = ["solver.kind=newton", "cloth.0.grid.cells=[20,20]"];
  await tab.page.evaluate(() => window.muslin.pause());
  await tab.page.evaluate(async (sets) => window.muslin.call({ do: "set", sets }), sets);
  await rewind(tab.page);
  await steps(tab.page, 10);
  const out = join(scratch(), "o");
  const scene = join(scratch(), "scene.toml");
  writeFileSync(scene, (await tab.page.evaluate(async () => window.muslin.call({ do: "toml" })))["toml"] as string);
  muslin("run", scene, "--frames", "10", "--preview", "none", "--json", "--quiet", "--out", out);
  const expected = npyFrame(join(out, "sheet.npy"), 10);
  const found = await positions(tab.page);
  expect(found.length).toBe(expected.length);
  const farthest = Math.max(...found.map((x, k) => Math.abs(x - expected[k]!)));
  expect(farthest).toBeLessThan(1e-6);
});
