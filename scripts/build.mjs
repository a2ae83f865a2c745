// npm run build: the program and the console in dist/, with the files beside the sources that are not TypeScript.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { copyAssets } from "./assets.mjs";
import { bundle } from "./bundle.mjs";
import { ROOT } from "./prepare.mjs";

rmSync(join(ROOT, "dist"), { recursive: true, force: true });
// Types are checked by npm run typecheck: to bundle takes 2 s, to check types 30 s more.
await bundle();
// The console: for browsers, bundled, and compressed here once for everybody.
const vite = spawnSync(
  process.execPath,
  ["node_modules/vite/bin/vite.js", "build", "--config", "clients/console/vite.config.ts"],
  {
    cwd: ROOT,
    stdio: "inherit",
  },
);
if (vite.status !== 0) process.exit(vite.status ?? 1);
const files = join(ROOT, "dist/console/assets");
for (const name of readdirSync(files).filter((one) => /\.(?:css|js|svg)$/.test(one))) {
  const plain = readFileSync(join(files, name));
  writeFileSync(join(files, `${name}.br`), brotliCompressSync(plain));
  writeFileSync(join(files, `${name}.gz`), gzipSync(plain, { level: 9 }));
}
copyAssets("dist");
