import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");
/** Where the settings of an installed service are. */
export const SETTINGS_FILE = "/etc/sallyport/sallyport.env";

/** What a page has its reader do: run commands, set lines of the settings, or write a file. */
export type Step =
  | { readonly kind: "run"; readonly commands: string }
  | { readonly kind: "set"; readonly lines: readonly string[] }
  | { readonly kind: "write"; readonly path: string; readonly text: string };

/** A heading of a page, with what its reader does there. */
export interface Section {
  readonly title: string;
  readonly steps: readonly Step[];
}

/** The sections of a page of docs/ that have steps: its blocks of shell commands, settings and JSON. */
export function sectionsOf(page: string): Section[] {
  const text = readFileSync(join(ROOT, "docs", page), "utf8");
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({ title: section.slice(0, section.indexOf("\n")), steps: stepsOf(section) }))
    .filter(({ steps }) => steps.length > 0);
}

function stepsOf(section: string): Step[] {
  // A block of a list is indented, and is no step of its own.
  return [...section.matchAll(/(.*)\n\n```(sh|ini|json)\n([\s\S]*?)\n```$/gm)].map(
    ([, before = "", kind, body = ""]) => {
      if (kind === "sh") return { kind: "run", commands: body };
      if (kind === "ini") return { kind: "set", lines: body.split("\n") };
      const path = /`(\/[^`]+)`:$/.exec(before)?.[1];
      if (path === undefined) throw new Error(`the line before a block of JSON names its file, not: ${before}`);
      return { kind: "write", path, text: `${body}\n` };
    },
  );
}

/** The text of settings with some lines set: in the place of those of the same names, otherwise at the end. */
export function withSettings(text: string, lines: readonly string[]): string {
  return lines.reduce((all, line) => {
    const [name] = line.split("=", 1);
    const old = new RegExp(`^${name}=.*$`, "m");
    return old.test(all) ? all.replace(old, () => line) : `${all.trimEnd()}\n${line}\n`;
  }, text);
}
