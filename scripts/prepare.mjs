// Brings the checkout up to date before it runs: installs, generates and
// builds what is stale, and nothing else. Plain JavaScript, since it runs
// before anything is installed.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { edgeNote, here, unsupportedNode } from "./nodes.mjs";

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const STAMPS = join(ROOT, "node_modules", ".sallyport");
const SOURCES = ["facade", "services", "clients", "proto", "scripts"];

/** Whether this is an installed service: built, and without the packages that build it (docs/install.md). */
export function isInstalled() {
  return existsSync(join(ROOT, "dist/services/main.js")) && !existsSync(join(ROOT, "node_modules/typescript"));
}

/** Installs, generates and builds what is stale. @throws Error when a step fails. */
export function prepare() {
  const unsupported = unsupportedNode(process.versions.node);
  if (unsupported !== undefined) throw new Error(unsupported);
  step("install", [join(ROOT, "package-lock.json"), join(ROOT, "package.json")], () => {
    const note = edgeNote(here());
    if (note !== undefined) process.stderr.write(`${note}\n`);
    run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  });
  const sources = SOURCES.flatMap((folder) => filesIn(join(ROOT, folder)));
  const protos = sources.filter((file) => file.endsWith(".proto"));
  // What scripts/generate-*.ts read.
  const schemas = sources.filter((file) => /\b(sandbox|platforms)[/\\]cti[/\\]|scripts[/\\]generate-/.test(file));
  const written = ["proto/gen/api.binpb", "proto/gen/cti-schema.ts", "clients/console/gen"].every((file) =>
    existsSync(join(ROOT, file)),
  );
  const generated = written ? [] : ["missing"];
  step(
    "generate",
    [
      ...protos,
      ...schemas,
      ...["buf.gen.yaml", "buf.yaml", "clients/console/buf.gen.yaml"].map((file) => join(ROOT, file)),
    ],
    () => run("npm", ["run", "-s", "generate:code"]),
    generated,
  );
  const built = existsSync(join(ROOT, "dist/services/main.js")) ? [] : ["missing"];
  step("build", [...sources, join(ROOT, "tsconfig.json")], () => run("npm", ["run", "-s", "build"]), built);
}

/** Runs a step when what it reads has changed since it last succeeded. */
function step(name, files, work, missing = []) {
  const hash = createHash("sha256").update(process.version);
  for (const file of files) hash.update(file).update(readFileSync(file));
  const digest = hash.digest("hex");
  const stamp = join(STAMPS, name);
  if (missing.length === 0 && existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  process.stderr.write(`${name}…\n`);
  rmSync(stamp, { force: true });
  work();
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(stamp, digest);
}

function run(command, args) {
  // npm announces its own settings in the environment; a nested npm need not hear of them twice.
  const { status, error } = spawnSync(command, args, {
    cwd: ROOT,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed${error ? `: ${error.message}` : ""}`);
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return /^(gen|node_modules|lib|\.venv)$/.test(entry.name) ? [] : filesIn(path);
      return [path];
    });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) prepareOrExit();

/** Prepares, or says in one line why not and exits 1. */
export function prepareOrExit() {
  try {
    prepare();
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
