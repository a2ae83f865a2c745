import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { PLATFORM_SERVERS } from "../../services/shared/platforms.js";

const ROOT = join(import.meta.dirname, "../..");

/** One file that names another, by import, type import, re-export or dynamic import. */
export interface Import {
  /** A source file, from the root. */
  readonly from: string;
  /** A source file, from the root, or a package's name. */
  readonly to: string;
  /** Of types alone: nothing of it is loaded. */
  readonly isType?: boolean;
}

/** A rule of the house: gives what breaks it, a line each. */
export type Rule = (imports: readonly Import[]) => string[];

/** The imports of every source file of some folders. */
export function readImports(folders: readonly string[]): Import[] {
  return folders.flatMap(sources).flatMap((file) => importsOf(file, readFileSync(join(ROOT, file), "utf8")));
}

/** What a source file imports: types, re-exports and dynamic imports included. */
export function importsOf(file: string, text: string): Import[] {
  const found = text.matchAll(
    /^(?:import|export)\s(?:[^"';]*?\sfrom\s+)?"([^"]+)"|\bimport\("([^"]+)"\)|\bimport\(`([^`$]+)`\)/gm,
  );
  return [...found].map((match) => {
    const to = (match[1] ?? match[2] ?? match[3]) as string;
    const isType = /^(?:import|export)\stype\s/.test(match[0]);
    return { from: file, to: to.startsWith(".") ? sourceOf(normalize(join(dirname(file), to))) : to, isType };
  });
}

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

const sourceOf = (path: string): string => path.replace(/\.js$/, ".ts");
const serviceOf = (path: string): string | undefined => /^services\/([^/]+)\//.exec(path)?.[1];
const platformOf = (path: string): string | undefined =>
  /^services\/platform-proxy\/platforms\/([^/]+)\//.exec(path)?.[1];
const sandboxOf = (path: string): string | undefined => {
  const folder = /^services\/sandbox\/([^/]+)\//.exec(path)?.[1];
  return PLATFORM_SERVERS.find((server) => server === folder);
};
/** The launcher: the only place that knows every part. */
const isLauncher = (file: string): boolean => file === "services/main.ts" || file.startsWith("services/launcher/");
/** What reads, compiles or matches what others answer, by the beginnings of their names. */
const READERS = [
  ...["@modelcontextprotocol/sdk", "openai", "ajv", "eventsource"],
  ...["unpdf", "mammoth", "htmlparser2", "@energetic-ai/", "usearch"],
];
const runsApart = (file: string): boolean => /^services\/.*\/apart\//.test(file);
/** What starts threads: each with its bounds. */
const THREADS = ["services/shared/process/thread.ts", "services/shared/process/asked.ts"];
/** The files that may start processes. */
const PROCESSES = [
  ...["processes", "scheduling", "starter", "usage"].map((name) => `services/shared/process/${name}.ts`),
  "services/launcher/workers.ts",
  "clients/cli/offline.ts",
];
const DATABASES = ["mongodb", "lmdb", "mingo"];

function where(isBroken: (one: Import) => boolean): Rule {
  return (imports) => imports.filter(isBroken).map(({ from, to }) => `${from} → ${to}`);
}

/** The rules by what they say. */
export const RULES: Readonly<Record<string, Rule>> = {
  "there are no circles": circles,

  "services do not know each other, nor does the proxy know the sandbox": where(({ from, to }) => {
    const own = serviceOf(from);
    const other = serviceOf(to);
    return own !== undefined && other !== undefined && own !== other && own !== "launcher" && other !== "shared";
  }),

  "what services share knows no service": where(
    ({ from, to }) => serviceOf(from) === "shared" && /^(services\/(?!shared\/)|facade\/|clients\/)/.test(to),
  ),

  "platforms do not know each other, and the proxy finds them by name": where(({ from, to }) => {
    const other = platformOf(to);
    return other !== undefined && platformOf(from) !== other;
  }),

  "sandboxes do not know each other": where(({ from, to }) => {
    const own = sandboxOf(from);
    const other = sandboxOf(to);
    return own !== undefined && other !== undefined && own !== other;
  }),

  "nothing knows the launcher but the entry": where(({ from, to }) => !isLauncher(from) && isLauncher(to)),

  "façade and clients know, of services, only what services share": where(
    ({ from, to }) => /^(facade|clients)\//.test(from) && /^services\/(?!shared\/)/.test(to),
  ),

  "nothing knows the façade but the launcher, and nothing knows the clients": where(
    ({ from, to }) =>
      (to.startsWith("facade/") && !from.startsWith("facade/") && !isLauncher(from)) ||
      // What packages are made of is a library: it imports nothing of ours.
      (to.startsWith("clients/") && !from.startsWith("clients/") && !isPackaging(from, to)) ||
      (from.startsWith("clients/packages/") && /^(?:services|facade|clients\/(?!packages\/))/.test(to)),
  ),

  "only the façade's edge and the lane between processes know µWebSockets.js": where(
    ({ from, to }) =>
      to === "uWebSockets.js" && !/^(?:facade\/http|services\/shared\/rpc\/lane)\/uws-\w+\.ts$/.test(from),
  ),

  "only the guard of outgoing addresses opens connections by undici": where(
    ({ from, to }) => to === "undici" && !from.startsWith("services/shared/outgoing/"),
  ),

  "what reads others' answers runs apart": where(
    ({ from, to, isType }) =>
      isType !== true &&
      !runsApart(from) &&
      READERS.some((one) => to === one || to.startsWith(`${one.replace(/\/$/, "")}/`)),
  ),

  "what runs apart is loaded by what runs apart alone": where(
    ({ from, to, isType }) => isType !== true && runsApart(to) && !runsApart(from),
  ),

  "the launcher starts built-in platforms in a thread": where(
    ({ from, to, isType }) =>
      isType !== true && isLauncher(from) && serviceOf(to) === "sandbox" && to !== "services/sandbox/apart.ts",
  ),

  "threads and processes are started by what bounds them": where(
    ({ from, to }) =>
      (to === "node:worker_threads" && !THREADS.includes(from)) ||
      (to === "node:child_process" && !PROCESSES.includes(from)),
  ),

  "only the store knows a database; what its interface borrows of the driver's types, it hands on": where(
    ({ from, to }) => DATABASES.includes(to.split("/")[0] as string) && !from.startsWith("services/shared/store/"),
  ),
};

function isPackaging(from: string, to: string): boolean {
  return from.startsWith("services/catalogue/") && to.startsWith("clients/packages/");
}

/** Every circle of imports, one for each group of files that reach each other: its shortest, from its first file. */
function circles(imports: readonly Import[]): string[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of imports) next.set(from, (next.get(from) ?? new Set()).add(to));
  const found: string[] = [];
  const told = new Set<string>();
  for (const file of [...next.keys()].sort()) {
    if (told.has(file)) continue;
    const circle = wayBack(file, next);
    if (circle === undefined) continue;
    for (const one of circle) told.add(one);
    found.push([...circle, file].join(" → "));
  }
  return found;
}

/** The shortest way from a file back to itself, without its end; undefined where there is none. */
function wayBack(file: string, next: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[file, undefined]]);
  for (const at of cameFrom.keys()) {
    for (const to of next.get(at) ?? []) {
      if (to === file) {
        const way: string[] = [];
        for (let step: string | undefined = at; step !== undefined; step = cameFrom.get(step)) way.unshift(step);
        return way;
      }
      if (!cameFrom.has(to)) cameFrom.set(to, at);
    }
  }
  return undefined;
}
