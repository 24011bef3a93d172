// Runs Khronos' validator over .glb files: node validate_glb.mjs FILE…
// Errors and warnings count; hints do not (a texture coordinate without a texture is one).
import { readFile } from "node:fs/promises";
import validator from "gltf-validator";

let failed = 0;
for (const path of process.argv.slice(2)) {
  const report = await validator.validateBytes(new Uint8Array(await readFile(path)), { uri: path });
  for (const { severity, code, message, pointer } of report.issues.messages) {
    if (severity > 1) continue;
    failed += 1;
    console.log(`${path}: ${code} at ${pointer}: ${message}`);
  }
}
process.exitCode = failed === 0 ? 0 : 1;
