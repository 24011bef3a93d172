// What WebAssembly costs: the core of the page in Node beside the program, one thread each, in turns.
// node scripts/speed.mjs [SCENE…]; MUSLIN_PROGRAM names the program (default ../target/release/muslin)
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCore } from "./core.mjs";

const program = process.env.MUSLIN_PROGRAM ?? join(import.meta.dirname, "../../target/release/muslin");
const FRAMES = 40;
const named = process.argv.slice(2);
const scenes = named.length > 0 ? named : ["drape", "hanging", "flag", "twirl", "tunic"];
const core = await startCore(0);
const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

function inWebAssembly(scene) {
  core.call({ do: "open", scene });
  const times = Array.from({ length: FRAMES }, () => core.head({ do: "frame", advance: 1 }).stats.total);
  return { ms: median(times), hash: core.call({ do: "hash" }).hash };
}

function inProgram(scene) {
  const out = join(mkdtempSync(join(tmpdir(), "muslin-speed-")), "o");
  const words = ["run", scene, "--frames", String(FRAMES), "--threads", "1", "--preview", "none", "--formats", "npy", "--quiet", "--out", out];
  const ended = spawnSync(program, words, { encoding: "utf8" });
  if (ended.status !== 0) throw new Error(`${program} ${words.join(" ")}: ${ended.stderr || ended.error}`);
  const report = JSON.parse(readFileSync(join(out, "report.json"), "utf8"));
  return { ms: median(report.frames.slice(1).map((frame) => frame.wall_ms)), hash: report.state_hash };
}

console.log(`median ms a frame of ${FRAMES}, one thread\n`);
console.log("scene        program   WebAssembly   ratio   same state");
for (const scene of scenes) {
  const rounds = [1, 2, 3].map(() => [inProgram(scene), inWebAssembly(scene)]);
  const [native, web] = [0, 1].map((k) => median(rounds.map((round) => round[k].ms)));
  const same = rounds.every(([a, b]) => a.hash === b.hash) ? "yes" : "no";
  console.log(`${scene.padEnd(10)} ${native.toFixed(2).padStart(9)} ${web.toFixed(2).padStart(13)} ${(web / native).toFixed(2).padStart(7)}   ${same}`);
}
