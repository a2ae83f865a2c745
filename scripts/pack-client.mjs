// npm run -s pack:client [-- FOLDER]: builds the package of clients/node from the
// generated code and packs it into FOLDER, dist/ by default; prints the tarball's path.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ROOT } from "./prepare.mjs";

const target = resolve(process.argv[2] ?? join(ROOT, "dist"));
const built = mkdtempSync(join(tmpdir(), "sallyport-client-"));

function run(command, args) {
  const { status, stdout } = spawnSync(command, args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", 2] });
  if (status === 0) return stdout;
  process.stderr.write(stdout);
  process.exit(status ?? 1);
}

try {
  run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "clients/node", "--outDir", built]);
  for (const file of ["clients/node/package.json", "clients/node/README.md", "LICENSE"]) {
    cpSync(join(ROOT, file), join(built, file.split("/").at(-1)));
  }
  mkdirSync(target, { recursive: true });
  const [{ filename }] = JSON.parse(run("npm", ["pack", built, "--json", "--pack-destination", target]));
  process.stdout.write(`${join(target, filename)}\n`);
} finally {
  rmSync(built, { recursive: true, force: true });
}
