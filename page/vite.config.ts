import { existsSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { resolve } from "node:path";
import { defineConfig } from "vite";

const out = process.env["MUSLIN_PAGE_OUT"] ?? resolve(import.meta.dirname, "../crates/muslin-cli/page");

export default defineConfig({
  base: "./",
  // Names without hashes: the binary embeds the files one by one, and a server that says no-store needs none.
  build: {
    outDir: out,
    emptyOutDir: false,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
    rollupOptions: {
      output: {
        entryFileNames: "assets/muslin.js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
  worker: {
    format: "es",
    rollupOptions: { output: { entryFileNames: "assets/[name].js", chunkFileNames: "assets/[name].js" } },
  },
  server: { headers: isolation() },
  preview: { headers: isolation() },
  plugins: [
    {
      // The output folder also holds what other tools put there, so that only our own files are cleared.
      name: "clear-own-output",
      apply: "build",
      configResolved(config: { root: string; build: { outDir: string } }) {
        const folder = resolve(config.root, config.build.outDir);
        rmSync(resolve(folder, "assets"), { recursive: true, force: true });
        rmSync(resolve(folder, "index.html"), { force: true });
      },
    },
    {
      // The core is no part of this build: `cargo xtask page` puts it into the output folder.
      name: "serve-core",
      configureServer(server: { middlewares: { use(handle: Handle): void } }) {
        server.middlewares.use((request, response, next) => {
          const name = /^\/([a-z-]+\.wasm\.gz)$/.exec(request.url ?? "")?.[1];
          if (!name) return next();
          const file = resolve(out, name);
          if (existsSync(file)) response.end(readFileSync(file));
          else response.writeHead(404).end();
        });
      },
    },
  ],
  test: { include: ["tests/unit/**/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);

type Handle = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** What the browser asks for before it lends a page shared memory, and so threads. */
function isolation(): Record<string, string> {
  return { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
}
