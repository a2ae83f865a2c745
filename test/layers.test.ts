import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

interface Import {
  readonly from: string;
  /** A path from the root, or a package's name. */
  readonly to: string;
}

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  const found = text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"|import\("([^"]+)"\)/gm);
  return [...found].map((match) => {
    const to = (match[1] ?? match[2]) as string;
    return { from: file, to: to.startsWith(".") ? normalize(join(dirname(file), to)) : to };
  });
}

const imports = ["facade", "services", "clients"].flatMap(sources).flatMap(importsOf);
/** The launcher: the only place that knows every part. */
const isLauncher = (file: string) => file === "services/main.ts" || file.startsWith("services/launcher/");
const serviceOf = (path: string) => /^services\/([^/]+)\//.exec(path)?.[1];
const broken = (rule: (one: Import) => boolean) => imports.filter(rule).map(({ from, to }) => `${from} → ${to}`);

test("the sources are found", () => {
  expect(imports.length).toBeGreaterThan(100);
});

test("services import no other service", () => {
  expect(
    broken(({ from, to }) => {
      const own = serviceOf(from);
      const other = serviceOf(to);
      return own !== undefined && other !== undefined && own !== other && own !== "launcher" && other !== "shared";
    }),
  ).toEqual([]);
});

test("what services share imports no service", () => {
  expect(broken(({ from, to }) => serviceOf(from) === "shared" && /^services\/(?!shared\/)/.test(to))).toEqual([]);
});

test("facade and clients import, of services, only what services share", () => {
  expect(broken(({ from, to }) => /^(facade|clients)\//.test(from) && /^services\/(?!shared\/)/.test(to))).toEqual([]);
});

test("nothing but the launcher imports the facade, and nothing imports clients", () => {
  expect(broken(({ from, to }) => !/^facade\//.test(from) && !isLauncher(from) && /^facade\//.test(to))).toEqual([]);
  expect(broken(({ from, to }) => !/^clients\//.test(from) && /^clients\//.test(to))).toEqual([]);
});

test("only the facade's edge imports µWebSockets.js", () => {
  expect(broken(({ from, to }) => to === "uWebSockets.js" && from !== "facade/http/edge.ts")).toEqual([]);
});

test("only store modules import a database", () => {
  const databases = ["mongodb", "lmdb", "mingo"];
  expect(
    broken(
      ({ from, to }) => databases.includes(to.split("/")[0] as string) && !from.startsWith("services/shared/store/"),
    ),
  ).toEqual([]);
});
