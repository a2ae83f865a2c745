// npm run build: compiles to dist/, with the files beside the sources that are not TypeScript.

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { ROOT } from "./prepare.mjs";

/** Files that the program reads at run time, by folder. */
const ASSETS = [
  "clients/load/report/drawing.js",
  "clients/load/report/page.css",
  "clients/load/report/plots.js",
  "clients/packages/bridge",
  "clients/packages/icon.png",
  "proto/gen/api.binpb",
  "services/core-objects/builtin",
  "services/sandbox/cti/schema.graphql",
];

rmSync(join(ROOT, "dist"), { recursive: true, force: true });
// Types are checked by npm run typecheck: to write the JavaScript takes 4 s, to check them 30 s more.
const tsc = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--noCheck"], {
  cwd: ROOT,
  stdio: "inherit",
});
if (tsc.status !== 0) process.exit(tsc.status ?? 1);
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
for (const asset of ASSETS) {
  if (existsSync(join(ROOT, asset))) cpSync(join(ROOT, asset), join(ROOT, "dist", asset), { recursive: true });
}
