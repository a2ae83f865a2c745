import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import type { ConsoleFile, ConsoleFiles } from "./routes/console.js";

/** Where the build puts the console, from here as it runs built and as it runs from the sources. */
const PLACES = ["../../console/", "../../dist/console/"].map((path) => new URL(path, import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Reads the console as it was built; undefined if it was not. */
export function readConsole(): ConsoleFiles | undefined {
  const place = PLACES.find((one) => existsSync(new URL("index.html", one)));
  if (place === undefined) return undefined;
  const folder = new URL("assets/", place);
  const names = readdirSync(folder).filter((name) => TYPES[extname(name)] !== undefined);
  const assets = names.map((name) => [`assets/${name}`, fileAt(new URL(name, folder))] as const);
  return { page: readFileSync(new URL("index.html", place), "utf8"), assets: new Map(assets) };
}

function fileAt(url: URL): ConsoleFile {
  const read = (suffix: string): Uint8Array | undefined => {
    const file = new URL(`${url.href}${suffix}`);
    return existsSync(file) ? readFileSync(file) : undefined;
  };
  const type = TYPES[extname(url.pathname)] as string;
  return { type, plain: readFileSync(url), br: read(".br"), gzip: read(".gz") };
}
