import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { agentPlugin } from "./agent-plugin.js";
import { CLAUDE_CODE_SUFFIX, claudeCodePlugin } from "./claude-code.js";
import { type Contents, type Files, nameOf } from "./contents.js";
import { type BundleAssets, desktopExtension } from "./mcpb.js";
import { zip } from "./zip.js";

/** A format of packages. */
export interface PackageFormat {
  /** What keys are named after that are made for it; undefined where it takes none. */
  readonly client: string | undefined;
  /** The end of the file's name. */
  readonly suffix: string;
  files(contents: Contents, version: string): Files;
}

/** What comes with the code as files. */
const ASSETS: BundleAssets = {
  bridge: readFileSync(new URL("./bridge/index.cjs", import.meta.url), "utf8"),
  icon: readFileSync(new URL("./icon.png", import.meta.url)),
};

/** Every format, by its name. */
export const FORMATS = {
  "claude-code": { client: "Claude Code", suffix: CLAUDE_CODE_SUFFIX, files: claudeCodePlugin },
  mcpb: {
    client: "Claude Desktop",
    suffix: ".mcpb",
    files: (contents: Contents, version: string) => desktopExtension(contents, version, ASSETS),
  },
  "agent-plugin": { client: undefined, suffix: "-agent-plugin.zip", files: agentPlugin },
} as const satisfies Readonly<Record<string, PackageFormat>>;

/** The name of a format. */
export type FormatName = keyof typeof FORMATS;

/** A package, as a file. */
export interface BuiltPackage {
  readonly fileName: string;
  readonly content: Uint8Array;
  /** Of the content, in hexadecimal. */
  readonly sha256: string;
  readonly version: string;
}

/** Builds a package. The same contents make the same bytes. */
export function buildPackage(name: FormatName, contents: Contents): BuiltPackage {
  const format: PackageFormat = FORMATS[name];
  const version = versionOf(format, contents);
  const content = zip(format.files(contents, version));
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { fileName: `${nameOf(contents)}${format.suffix}`, content, sha256, version };
}

/**
 * The service's MAJOR.MINOR, and a number that stands for what is in the package, so that a client
 * sees another version exactly where there is something else. Not of the key, of which a
 * version that others see must say nothing.
 */
function versionOf(format: PackageFormat, contents: Contents): string {
  const files = format.files({ ...contents, key: undefined }, "0.0.0");
  const hash = createHash("sha256");
  for (const path of Object.keys(files).sort())
    hash
      .update(path)
      .update("\0")
      .update(files[path] as string | Uint8Array);
  const number = Number.parseInt(hash.digest("hex").slice(0, 7), 16);
  return `${contents.serviceVersion.split(".").slice(0, 2).join(".")}.${number}`;
}
