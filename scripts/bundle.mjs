// Bundles the program into dist/: a start that loads each module by itself spends more than half of its time on finding
// and reading 2,000 files (docs/decisions/0099).

import { readdirSync } from "node:fs";
import { dirname, isAbsolute, join, posix, relative } from "node:path";
import { rolldown } from "rolldown";
import { ROOT } from "./prepare.mjs";

/** Folders of the program's modules. */
const FOLDERS = ["services", "facade", "clients"];

/** Modules that are started, or loaded by a path that is computed: each stays a file at its own place. */
const ENTRIES = [
  // Programs, and what runs in a thread or a process of its own.
  /\/main\.ts$/,
  /\/apart\/[\w-]+\.ts$/,
  /^services\/shared\/process\/starter\.ts$/,
  // What a folder adds (services/shared/process/folder.ts).
  /^services\/core-objects\/kinds\/[\w-]+\/kind\.ts$/,
  /^services\/platform-proxy\/platforms\/[\w-]+\/(?:platform|tools\/[\w-]+)\.ts$/,
  /^services\/sandbox\/[\w-]+\/server\.ts$/,
];

/** Packages of many files that a start loads. The others are loaded as they are installed: some hold machine code. */
const BUNDLED = [
  ...["@bufbuild/cel", "@bufbuild/cel-spec", "@bufbuild/protobuf", "@bufbuild/protovalidate", "@bufbuild/re2"],
  ...["@connectrpc/connect", "@connectrpc/connect-node", "@orama/stemmers", "@orama/stopwords"],
  ...["cockatiel", "graphql", "jose", "mingo", "undici", "uuid", "yaml"],
];

/** Where a chunk says where dist/ is, until the place of the chunk is known. */
const DIST = "PATH_TO_DIST";

/** Bundles the program of this checkout. */
export async function bundle() {
  const entries = FOLDERS.flatMap(modulesIn).filter((path) => ENTRIES.some((one) => one.test(path)));
  const build = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(entries.map((path) => [path.replace(/\.ts$/, ""), path])),
    platform: "node",
    tsconfig: "tsconfig.json",
    resolve: { conditionNames: ["house:source", "node", "import", "default"] },
    external: (id) =>
      !/^[.#]/.test(id) && !isAbsolute(id) && !BUNDLED.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [ownUrls],
  });
  await build.write({
    dir: join(ROOT, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js",
  });
  await build.close();
}

/** A module of ours finds files and other modules by its own URL: that is as if it were not bundled. */
const ownUrls = {
  name: "own-urls",
  transform(code, id) {
    if (/[\\/]node_modules[\\/]/.test(id) || !code.includes("import.meta.url")) return;
    const path = posix.join(DIST, slashed(relative(ROOT, id)).replace(/\.ts$/, ".js"));
    return { code: code.replaceAll("import.meta.url", `new URL("${path}", import.meta.url).href`), map: null };
  },
  renderChunk(code, { fileName }) {
    if (!code.includes(DIST)) return;
    return { code: code.replaceAll(DIST, posix.relative(dirname(fileName), ".") || "."), map: null };
  },
};

function modulesIn(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true })
    .map((path) => posix.join(folder, slashed(path)))
    .filter((path) => path.endsWith(".ts") && !/\/(?:node_modules|gen)\/|^clients\/console\//.test(path))
    .sort();
}

/** A path as on Linux. */
function slashed(path) {
  return path.replaceAll("\\", "/");
}
