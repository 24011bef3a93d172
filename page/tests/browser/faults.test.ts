import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, expect, it } from "vitest";
import { hash, open, picture, positions, ready, rewind, scratch, state, steps, stopBrowser, until, view, type View } from "./harness";

const servers: View[] = [];

async function serve(...words: string[]): Promise<View> {
  const served = await view(...words);
  servers.push(served);
  return served;
}

afterEach(async () => {
  for (const served of servers.splice(0)) await served.stop();
});
afterAll(stopBrowser);

it("shows why a simulation failed, keeps the last good frame, and begins again", async () => {
  const served = await serve("hanging");
  const tab = await open(served.address);
  await rewind(tab.page);
  await steps(tab.page, 2);
  await tab.page.evaluate(async () => window.muslin.call({ do: "set", sets: ["solver={ kind = \"explicit\", substeps = 1 }"] }));
  await tab.page.evaluate(() => window.muslin.play());
  await until("the message appears", async () => (await state(tab.page)).message.includes("stability limit"));
  expect(await tab.page.locator("#message").textContent()).toContain("stability limit");
  expect((await state(tab.page)).playing).toBe(false);
  const kept = await positions(tab.page);
  expect(kept.every(Number.isFinite)).toBe(true);
  expect(kept.some((x) => x !== 0)).toBe(true);
  await picture(tab.page, "failed");
  await tab.page.evaluate(async () => window.muslin.call({ do: "set", sets: ["solver.kind=xpbd"] }));
  await rewind(tab.page);
  await steps(tab.page, 2);
  expect(await state(tab.page)).toMatchObject({ frame: 2, message: "" });
  await tab.close();
});

it("comes back after a reload, to the same session on the machine", async () => {
  const scene = join(scratch(), "big.toml");
  writeFileSync(scene, "name = 'big'\nsolver = { kind = 'xpbd', substeps = 2 }\n[[cloth]]\ngrid = { size = [1, 1], cells = [170, 170] }\npins = [{ select = 'corners' }]\n");
  const served = await serve(scene);
  const tab = await open(served.address);
  await tab.page.evaluate(() => window.muslin.pause());
  await steps(tab.page, 5);
  const before = { ...(await state(tab.page)), ...(await hash(tab.page)) };
  expect(before.place).toBe("machine");
  await tab.page.reload();
  await ready(tab.page);
  await tab.page.evaluate(() => window.muslin.pause());
  const after = await hash(tab.page);
  expect(after.frame).toBeGreaterThanOrEqual(before.frame);
  await tab.close();
});

it("runs a scene on the machine whose meshes the page may not have", async () => {
  const folder = scratch();
  mkdirSync(join(folder, "scenes"));
  writeFileSync(join(folder, "away.obj"), "v 0 1 0\nv 1 1 0\nv 0 1 1\nv 1 1 1\nf 1 3 2\nf 2 3 4\n");
  const scene = join(folder, "scenes/one.toml");
  writeFileSync(scene, "name = 'one'\n[[cloth]]\nmesh = '../away.obj'\n");
  const served = await serve(scene);
  const tab = await open(served.address);
  expect(await state(tab.page)).toMatchObject({ place: "machine", scene: "one" });
  expect((await positions(tab.page)).length).toBe(12);
  await tab.close();
});

it("serves two tabs at once, each with its own cloth", async () => {
  const served = await serve("hanging", "--set", "solver.substeps=10");
  const [one, two] = await Promise.all([open(served.address), open(served.address)]);
  await rewind(one.page);
  await rewind(two.page);
  await Promise.all([steps(one.page, 6), steps(two.page, 3)]);
  const [first, second] = [await hash(one.page), await hash(two.page)];
  expect([first.frame, second.frame]).toEqual([6, 3]);
  await steps(two.page, 3);
  expect((await hash(two.page)).hash).toBe(first.hash);
  await one.close();
  await two.close();
});

it("says so when the program goes away, and the last frame stays", async () => {
  const scene = join(scratch(), "big.toml");
  writeFileSync(scene, "name = 'big'\nsolver = { kind = 'xpbd', substeps = 2 }\n[[cloth]]\ngrid = { size = [1, 1], cells = [170, 170] }\npins = [{ select = 'corners' }]\n");
  const served = await serve(scene);
  const tab = await open(served.address);
  await tab.page.evaluate(() => window.muslin.play());
  await until("it moves", async () => (await state(tab.page)).frame > 2);
  await served.stop();
  await until("the page says it", async () => (await state(tab.page)).message.includes("muslin view"));
  expect((await positions(tab.page)).length).toBe(3 * 171 * 171);
  await tab.close();
});

it("loads a sheet of a million vertices, and says what it costs", async () => {
  const scene = join(scratch(), "million.toml");
  writeFileSync(
    scene,
    "name = 'million'\nsolver = { kind = 'xpbd', substeps = 1 }\n[[cloth]]\ngrid = { size = [1, 1], cells = [999, 999] }\nmaterial = { bend = { model = 'none' } }\npins = [{ select = 'corners' }]\n",
  );
  const served = await serve(scene);
  const tab = await open(served.address);
  await until("it is there", async () => (await state(tab.page)).scene === "million", 120);
  expect(await state(tab.page)).toMatchObject({ place: "machine" });
  await tab.page.evaluate(() => window.muslin.pause());
  expect((await positions(tab.page)).length).toBe(3_000_000);
  const said = await tab.page.locator("body").innerText();
  expect(said).toMatch(/1[,. ]?000[,. ]?000|1\.0* ?(M|million)/);
  expect(said).toMatch(/[MG]i?B/);
  await tab.close();
}, 240_000);

it("shows the scene that was chosen last, however quickly", async () => {
  const served = await serve("hanging", "--set", "solver.substeps=5");
  const tab = await open(served.address);
  await tab.page.evaluate(async () => {
    window.muslin.play();
    await Promise.all(["drape", "twist", "swing", "bar", "curtain", "hanging", "swing"].map((name) => window.muslin.load(name)));
  });
  expect((await state(tab.page)).scene).toBe("swing");
  expect(await tab.page.locator("#scene").inputValue()).toBe("swing");
  expect(tab.complaints).toEqual([]);
  await tab.close();
});

it("refuses to keep a body where the cloth starts, says why, and begins again without it", async () => {
  const served = await serve("tunic");
  const tab = await open(`${served.address}?paused`);
  const before = (await hash(tab.page)).hash;
  await tab.page.evaluate(async () => window.muslin.call({ do: "move", collider: 0, offset: [0.2, 0, 0] }));
  await steps(tab.page, 2);
  const dropped = await tab.page.evaluate(async () => window.muslin.call({ do: "drop", collider: 0 }));
  expect(dropped.ok).toBe(false);
  expect(dropped.message).toContain("at the start");
  await tab.page.locator("#reset").click();
  await until("it is at its start", async () => (await state(tab.page)).frame === 0);
  expect((await hash(tab.page)).hash).toBe(before);
  await tab.close();
});
