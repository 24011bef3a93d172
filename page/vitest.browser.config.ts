import { defineConfig } from "vitest/config";

/** The tests in a real browser; `cargo xtask test --only page` sets what they need. */
export default defineConfig({
  test: {
    include: ["tests/browser/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // One browser at a time: the machine has few cores, and they simulate.
    fileParallelism: false,
    sequence: { concurrent: false },
  },
});
