import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { readImage } from "../services/shared/tools/image.js";

// What SECURITY.md promises of packages, programs and paths.

const ROOT = join(import.meta.dirname, "..");
const json = (name: string) => JSON.parse(readFileSync(join(ROOT, name), "utf8"));

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}
const packages = Object.entries(json("package-lock.json").packages as Record<string, Locked>).filter(
  ([at]) => at !== "",
);

/** Licences that ask for no more than their text. */
const ALLOWED = [
  "MIT",
  "Apache-2.0",
  "ISC",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "BlueOak-1.0.0",
  "Unlicense",
  "Zlib",
];
/** Licences of single packages, and why they are no problem. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "OFL-1.1": "the font of the console, which is served as it is",
  "MPL-2.0": "tools that build and test, whose files are not changed or served",
  "Apache 2.0": "Apache-2.0, written otherwise",
  BSD: "BSD-3-Clause, written otherwise",
};

/** Whether one of the choices of a licence is allowed, and every part of it. */
function isAllowed(license: string): boolean {
  if (license in EXCEPTIONS) return true;
  const plain = license.replace(/^\(|\)$/g, "");
  if (plain.includes(" OR ")) return plain.split(" OR ").some(isAllowed);
  return plain.split(" AND ").every((one) => ALLOWED.includes(one));
}

test("every package has a licence that is allowed", () => {
  expect(packages.length).toBeGreaterThan(300);
  const others = packages.filter(([, { license = "none" }]) => !isAllowed(license));
  expect(others.map(([at, { license }]) => `${at}: ${license}`)).toEqual([]);
  const served = packages.filter(([, { license, dev, devOptional }]) => license === "MPL-2.0" && !dev && !devOptional);
  expect(served.map(([at]) => at)).toEqual([]);
  for (const licence of ["GPL-3.0-or-later", "(GPL-2.0 AND MIT)", "SSPL-1.0", "none"])
    expect(isAllowed(licence)).toBe(false);
});

/** Packages with an install script, and what they do without it. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bcrypt: "its binaries are in the package; the script looks for one",
  lmdb: "its binaries are packages of their own; the script builds one where there is none",
  "msgpackr-extract": "optional; lmdb reads without it",
  protobufjs: "the script prints a warning",
  usearch: "optional; vectors are compared one by one without it",
  esbuild: "for development; its binaries are packages of their own",
  "@bufbuild/buf": "for development; its binaries are packages of their own",
};

test("no package needs an install script that is not known", () => {
  const found = packages
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([at]) => at.split("node_modules/").at(-1)!);
  expect([...new Set(found)].toSorted()).toEqual(Object.keys(SCRIPTS).toSorted());
});

test("every version is exact, and every package has a digest", () => {
  const { dependencies, devDependencies, optionalDependencies } = json("package.json");
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }))
    expect(version, name).toMatch(/^(?:npm:[\w@/-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/);
  for (const [at, { integrity }] of packages) expect(integrity, at).toMatch(/^sha512-/);
});

/** Sources that start processes: all of them our own modules, by addresses that are in the sources. */
const STARTERS = [
  "services/launcher/workers.ts",
  "services/shared/process/processes.ts",
  "services/shared/process/scheduling.ts",
  "services/shared/process/starter.ts",
  "services/shared/process/usage.ts",
];

test("nothing that a caller sends starts a program", () => {
  const sources = ["services", "facade"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => join(folder, file)),
  );
  const starting = sources.filter((file) => /child_process/.test(readFileSync(join(ROOT, file), "utf8")));
  expect(starting.toSorted()).toEqual(STARTERS);
  for (const file of STARTERS)
    expect(readFileSync(join(ROOT, file), "utf8"), file).not.toMatch(/shell: true|(?<!\.)\bexec\(|execSync/);
  const transports = [...readImage()].find((desc) => desc.kind === "enum" && desc.typeName === "core.v1.McpTransport");
  const values = (transports as { values: { localName: string }[] } | undefined)?.values.map(
    ({ localName }) => localName,
  );
  expect(values?.toSorted()).toEqual(["SSE", "STREAMABLE_HTTP", "UNSPECIFIED"]);
});

/** Fields with the name of a path or file, and why none of them is one of the server. */
const PATHS: Readonly<Record<string, string>> = {
  "core.v1.CreateDocumentRequest.file": "bytes",
  "core.v1.UpdateDocumentRequest.file": "bytes",
  "core.v1.ReadSkillResourceRequest.path": "a name within a skill, which is a record",
  "core.v1.SkillFile.path": "a name within a skill, which is a record",
  "core.v1.UpdateSkillRequest.remove_files": "names within a skill, which is a record",
  "grc.v1.UploadEvidenceFileRequest.file_name": "a name at the platform",
};

test("no rpc takes the path of a file of the server", () => {
  const found = new Set<string>();
  const seen = new Set<string>();
  const walk = (message: DescMessage): void => {
    if (seen.has(message.typeName)) return;
    seen.add(message.typeName);
    for (const field of message.fields) {
      if (field.message === undefined && /path|file|folder|directory/.test(field.name))
        found.add(`${message.typeName}.${field.name}`);
      if (field.message !== undefined) walk(field.message);
    }
  };
  for (const desc of readImage()) if (desc.kind === "service") for (const { input } of desc.methods) walk(input);
  const own = [...found].filter((name) => !name.startsWith("grpc.reflection."));
  expect(own.toSorted()).toEqual(Object.keys(PATHS).toSorted());
});

test("the bill of materials names every package that is served, with its digest", () => {
  const printed = execFileSync("npm", ["run", "-s", "sbom"], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  interface Component {
    readonly name: string;
    readonly version: string;
    readonly hashes?: readonly unknown[];
  }
  const { bomFormat, components } = JSON.parse(printed) as { bomFormat: string; components: Component[] };
  expect(bomFormat).toBe("CycloneDX");
  const named = new Set(components.map(({ name, version }) => `${name}@${version}`));
  const served = packages
    .filter(([, { dev }]) => !dev)
    .map(([at, { version }]) => {
      const folder = at.slice(at.lastIndexOf("node_modules/") + "node_modules/".length);
      return [folder, version];
    });
  expect(served.length).toBeGreaterThan(100);
  expect(served.filter(([name, version]) => !named.has(`${name}@${version}`))).toEqual([]);
  expect(components.filter(({ hashes = [] }) => hashes.length === 0)).toEqual([]);
});
