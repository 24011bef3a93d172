// Packs a WebAssembly module: node pack.mjs FROM TO
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const [from, to] = process.argv.slice(2);
const bytes = readFileSync(from);
const packed = gzipSync(bytes, { level: 9 });
writeFileSync(to, packed);
console.log(`${to}: ${packed.length} bytes, ${bytes.length} unpacked`);
