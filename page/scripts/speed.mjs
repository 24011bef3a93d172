// What WebAssembly costs: the core of the page in Node beside the program, one thread each, in turns.
// With --check it fails unless both come to the same state. node scripts/speed.mjs [--check] [SCENE…]; MUSLIN_PROGRAM names the program (default ../target/release/muslin)
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const here = import.meta.dirname;
const program = process.env.MUSLIN_PROGRAM ?? join(here, "../../target/release/muslin");
const isCheck = process.argv.includes("--check");
const frames = isCheck ? 10 : 40;
const named = process.argv.slice(2).filter((word) => word !== "--check");
const scenes = named.length > 0 ? named : ["drape", "hanging", "flag", "twirl", "tunic"];

const packed = readFileSync(join(here, "../../crates/muslin-cli/page/muslin.wasm.gz"));
let memory;
const panicked = (place, length) => console.error(new TextDecoder().decode(new Uint8Array(memory.buffer, place, length)));
const { instance } = await WebAssembly.instantiate(gunzipSync(packed), { muslin: { now: () => performance.now(), panicked } });
const core = instance.exports;
memory = core.memory;
core.muslin_start(1);

function ask(name, request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const place = core.muslin_alloc(bytes.length);
  new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
  const answer = core[name](place, bytes.length);
  const [start, length] = new Uint32Array(memory.buffer, answer, 2);
  return new Uint8Array(memory.buffer, start, length).slice();
}
const call = (request) => JSON.parse(new TextDecoder().decode(ask("muslin_call", request)));
const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

function inWebAssembly(scene) {
  call({ do: "open", scene });
  const times = [];
  for (let k = 0; k < frames; k++) {
    const bytes = ask("muslin_binary", { do: "frame", advance: 1 });
    const length = new DataView(bytes.buffer).getUint32(0, true);
    times.push(JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))).stats.total);
  }
  return { ms: median(times), hash: call({ do: "hash" }).hash };
}

function inProgram(scene) {
  const out = join(mkdtempSync(join(tmpdir(), "muslin-speed-")), "o");
  const words = ["run", scene, "--frames", String(frames), "--threads", "1", "--preview", "none", "--formats", "npy", "--quiet", "--out", out];
  const ended = spawnSync(program, words, { encoding: "utf8" });
  if (ended.status !== 0) throw new Error(`${program} ${words.join(" ")}: ${ended.stderr || ended.error}`);
  const report = JSON.parse(readFileSync(join(out, "report.json"), "utf8"));
  return { ms: median(report.frames.slice(1).map((frame) => frame.wall_ms)), hash: report.state_hash };
}

console.log(`median ms a frame of ${frames}, one thread\n`);
console.log("scene        program   WebAssembly   ratio   same state");
for (const scene of scenes) {
  const rounds = (isCheck ? [1] : [1, 2, 3]).map(() => [inProgram(scene), inWebAssembly(scene)]);
  const [native, web] = [0, 1].map((k) => median(rounds.map((round) => round[k].ms)));
  const same = rounds.every(([a, b]) => a.hash === b.hash) ? "yes" : "no";
  if (isCheck && same === "no") {
    console.error("the WebAssembly in crates/muslin-cli/page is of other sources than the program: run `cargo xtask page` and commit it");
    process.exitCode = 1;
  }
  console.log(`${scene.padEnd(10)} ${native.toFixed(2).padStart(9)} ${web.toFixed(2).padStart(13)} ${(web / native).toFixed(2).padStart(7)}   ${same}`);
}
