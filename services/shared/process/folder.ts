import { readdir } from "node:fs/promises";
import { extname } from "node:path";

/** What modules end with here: .js once built, .ts under tsx and vitest, as this one does. */
const EXTENSION = extname(new URL(import.meta.url).pathname);

/** A module by its URL, written with .js as in an import. @throws Error where there is none. */
export function loadModule<T>(url: URL): Promise<T> {
  const href = url.href.replace(/\.js$/, EXTENSION);
  return import(/* @vite-ignore */ href) as Promise<T>;
}

/**
 * Every module of a folder, by name: each file in it, or, where `file` is
 * given, that file (written with .js, as in an import) of each folder in it.
 * So what is added to the folder is part of the program without being named
 * anywhere else.
 *
 * @param folder ends with a slash.
 */
export async function loadFolder<T>(folder: URL, file?: string): Promise<readonly T[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const paths = entries
    .filter((entry) => (file === undefined ? isModule(entry.name) : entry.isDirectory()))
    .map(({ name }) => (file === undefined ? name.replace(/\.ts$/, ".js") : `${name}/${file}`));
  return Promise.all(paths.sort().map((path) => loadModule<T>(new URL(path, folder))));
}

function isModule(name: string): boolean {
  return name.endsWith(EXTENSION) && !name.endsWith(".d.ts");
}
