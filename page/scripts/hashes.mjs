// Holds both modules of the core to the pinned hashes: node scripts/hashes.mjs [--bless] [NAME]; with a name, only the cases that begin so.
//
// validation/hashes.txt pins what the program computes. validation/hashes-web.txt pins the few cases that WebAssembly computes otherwise, and
// says why; --bless writes it again, for cases of `newton` alone, with the digest of hashes.txt, by which `cargo xtask tidy` sees that it is old.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startCore } from "./core.mjs";

const validation = join(import.meta.dirname, "../../validation");
const isBless = process.argv.includes("--bless");
const wanted = process.argv.slice(2).filter((word) => word !== "--bless").join(" ");

/** As crates/muslin-live/tests/it/hashes.rs has them. */
const FRAMES = { builtin: 30, small: 8 };

/** Of the name of a case: what to open, and how many frames to run. */
function caseOf(name) {
  const [scene, second, family, model] = name.split(" ");
  if (scene === "builtin") return { open: { do: "open", scene: second }, frames: FRAMES.builtin };
  const sets = [`solver.kind="${second}"`];
  // The one model without a default: PBD and shape matching read k, the others a compliance.
  const number = model !== "distance" ? "" : ["pbd", "shape_matching"].includes(second) ? ", k = 0.05" : ", compliance = 0.05";
  if (model) sets.push(`cloth.0.material.${family}={ model = "${model}"${number} }`);
  const toml = readFileSync(join(validation, "scenes", `${scene}.toml`), "utf8");
  return { open: { do: "open", toml, sets }, frames: FRAMES.small };
}

/** The hash of the last state, or in which frame or why there is none. */
function outcome(core, name) {
  const { open, frames } = caseOf(name);
  const opened = core.call(open);
  if (!opened.ok) return `refused: ${opened.message}`;
  for (let frame = 1; frame <= frames; frame++) {
    const head = core.head({ do: "frame", advance: 1 });
    if (!head.ok) return `failed in frame ${frame}: ${head.message}`;
  }
  return core.call({ do: "hash" }).hash;
}

function pinned(file) {
  const lines = readFileSync(join(validation, file), "utf8").split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => line.split(" = ")));
}

/** FNV-1a over a file, as `digest` in xtask/src/bless.rs. */
function digest(file) {
  const step = (hash, byte) => BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return readFileSync(join(validation, file)).reduce(step, 0xcbf29ce484222325n).toString(16).padStart(16, "0");
}

const [ofProgram, ofWeb] = [pinned("hashes.txt"), pinned("hashes-web.txt")];
const names = [...ofProgram.keys()].filter((name) => name.startsWith(wanted));
if (isBless && wanted) throw new Error("--bless takes no name: it writes the whole file");
if (names.length === 0) throw new Error(`no case of validation/hashes.txt begins with ${wanted}`);

/** What both modules gave, by the name of the case. */
const found = new Map(names.map((name) => [name, []]));
for (const [title, threads] of [["without threads", 0], ["two threads", 2]]) {
  const core = await startCore(threads);
  const began = performance.now();
  for (const name of names) found.get(name).push(outcome(core, name));
  console.log(`${title}: ${names.length} cases in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  await core.stop();
}

const differs = (name, hash) => found.get(name).some((one) => one !== hash);
if (isBless) {
  const known = names.filter((name) => / newton\b/.test(name) && differs(name, ofProgram.get(name)) && !differs(name, found.get(name)[0]));
  const comment = readFileSync(join(validation, "hashes-web.txt"), "utf8").split("\n").filter((line) => line.startsWith("#"));
  const head = comment.map((line) => line.replace(/ digest [0-9a-f]{16}\./, ` digest ${digest("hashes.txt")}.`));
  ofWeb.clear();
  for (const name of known) ofWeb.set(name, found.get(name)[0]);
  writeFileSync(join(validation, "hashes-web.txt"), [...head, ...known.map((name) => `${name} = ${ofWeb.get(name)}`), ""].join("\n"));
}
const wrong = names.filter((name) => differs(name, ofWeb.get(name) ?? ofProgram.get(name)));
for (const name of wrong) {
  const [single, threads] = found.get(name);
  console.error(`${name}: ${single} without threads, ${threads} with two, pinned ${ofWeb.get(name) ?? ofProgram.get(name)}`);
}
const own = names.filter((name) => ofWeb.has(name));
console.log(`${names.length - wrong.length} of ${names.length} as pinned, ${own.length} of them by validation/hashes-web.txt: ${own.join(", ") || "none"}`);
if (wrong.length > 0) process.exitCode = 1;
