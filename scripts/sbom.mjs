// npm run -s sbom: prints the bill of materials of what is served (CycloneDX). `npm sbom --omit=dev` leaves out each package
// that a development package needs too, so npm gets a lock file without development packages.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./prepare.mjs";

const read = (name) => JSON.parse(readFileSync(join(ROOT, name), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "sbom-"));
try {
  const { devDependencies: _own, ...manifest } = read("package.json");
  const { packages, ...lock } = read("package-lock.json");
  const served = Object.entries(packages).filter(([, { dev }]) => !dev);
  const { devDependencies: _locked, ...root } = packages[""];
  const write = (name, value) => writeFileSync(join(folder, name), JSON.stringify(value));
  write("package.json", manifest);
  write("package-lock.json", { ...lock, packages: { ...Object.fromEntries(served), "": root } });
  const args = ["sbom", "--sbom-format=cyclonedx", "--package-lock-only"];
  const { status } = spawnSync("npm", args, { cwd: folder, stdio: "inherit", shell: process.platform === "win32" });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
