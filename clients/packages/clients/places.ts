import type { Place, System } from "./client.js";

// Where clients keep their configuration, on each operating system.

/** The systems by the names that people know. */
export const SYSTEMS: Readonly<Record<System, string>> = { macos: "macOS", linux: "Linux", windows: "Windows" };

/** Whose servers a file has, in words. */
export const SCOPES: Readonly<Record<Place["scope"], string>> = { user: "For you", project: "For a project" };

/** A file below the home of a person, at the same path on every system. */
export function atHome(path: string): Place {
  return of("user", `~/${path}`, `~/${path}`, `%USERPROFILE%\\${path.replaceAll("/", "\\")}`);
}

/** A file of a person, at a path of its own on each system. */
export function onEach(macos: string, linux: string, windows: string): Place {
  return of("user", macos, linux, windows);
}

/** A file below the folder of a project, at the same path on every system. */
export function inProject(path: string): Place {
  return of("project", path, path, path);
}

function of(scope: Place["scope"], macos: string, linux: string, windows: string): Place {
  return { scope, paths: { macos, linux, windows } };
}

/** The paths of a file, and the systems that each is for. */
export function pathsOf({ paths }: Place): readonly { readonly path: string; readonly systems: string }[] {
  const distinct = [...new Set(Object.values(paths))];
  const systems = Object.keys(SYSTEMS) as System[];
  return distinct.map((path) => ({
    path,
    systems: systems
      .filter((system) => paths[system] === path)
      .map((system) => SYSTEMS[system])
      .join(", "),
  }));
}

/** The paths of a file in one line. @param as how a path is written; as it is if omitted. */
export function placeInWords(place: Place, as = (path: string): string => path): string {
  const paths = pathsOf(place);
  const words = paths.map(({ path, systems }) => (paths.length === 1 ? as(path) : `${systems}: ${as(path)}`));
  return `${words.join("; ")}${place.remark === undefined ? "" : ` (${place.remark})`}`;
}
