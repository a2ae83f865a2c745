import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, posix } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Plugin, rolldown } from "rolldown";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, "node_modules/.sallyport/bundled");
/** Packages of many files. Others are loaded as they are installed: some hold machine code. */
const MANY_FILES = /^(?:@bufbuild|@connectrpc|graphql|jose|mingo|undici|uuid|yaml)(?:\/|$)/;

const made = new Map<string, Promise<string>>();

/**
 * A script of tests that runs in a process of its own, as one file for plain Node: each process that loads it through
 * tsx compiles all that it imports again, half a second of a processor. It is made once, and finds files as if it were
 * its source. What it imports by a path that is computed is not in it.
 *
 * @param url of the script.
 * @returns the path of the file.
 */
export function bundled(url: URL): Promise<string> {
  const path = fileURLToPath(url);
  let one = made.get(path);
  if (one === undefined) {
    one = bundle(path);
    made.set(path, one);
  }
  return one;
}

async function bundle(path: string): Promise<string> {
  const build = await rolldown({
    cwd: ROOT,
    input: path,
    platform: "node",
    tsconfig: "tsconfig.json",
    resolve: { conditionNames: ["house:source", "node", "import", "default"] },
    external: (id) => !/^[.#]/.test(id) && !isAbsolute(id) && !MANY_FILES.test(id),
    plugins: [ownPlaces],
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false });
  await build.close();
  const { code } = output[0];
  const name = `${posix.basename(path, ".ts")}-${createHash("sha256").update(code).digest("hex").slice(0, 16)}.js`;
  const file = join(FOLDER, name);
  if (existsSync(file)) return file;
  mkdirSync(FOLDER, { recursive: true });
  // Whole at once: other test processes may make the same.
  writeFileSync(`${file}.${process.pid}`, code);
  renameSync(`${file}.${process.pid}`, file);
  return file;
}

/** A module finds what is beside it by the place of its source. */
const ownPlaces: Plugin = {
  name: "own-places",
  transform(code, id) {
    if (/[\\/]node_modules[\\/]/.test(id) || !code.includes("import.meta.")) return;
    const places = { "import.meta.url": pathToFileURL(id).href, "import.meta.dirname": dirname(id) };
    return Object.entries(places).reduce((text, [name, place]) => text.replaceAll(name, JSON.stringify(place)), code);
  },
};
