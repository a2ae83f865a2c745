// Servers by other SDKs, each in a folder of its own. They are copied to a
// cache and built there; one whose toolchain is missing is left out by name.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isOnPath } from "../../support/foreign.js";
import { type Server, startCommand } from "../servers/server.js";

/** The peers, by their folders. */
export const LANGUAGES = ["rust", "go", "node", "java", "python"] as const;
/** One of them. */
export type Language = (typeof LANGUAGES)[number];

/** What a peer answers. */
export interface Fixture {
  /** Of requests, without a query. */
  readonly path: string;
  /** The entries of tools/list. */
  readonly tools: readonly unknown[];
  /** The structured results of tools. */
  readonly results: Readonly<Record<string, unknown>>;
}

/** A peer that is built. */
export interface Peer {
  readonly language: Language;
  readonly name: string;
  start(fixture: Fixture): Promise<Server>;
}

/** Peers that are built, and why others are not. */
export interface Peers {
  readonly built: readonly Peer[];
  readonly skipped: readonly string[];
}

interface Recipe {
  readonly name: string;
  readonly needs: readonly string[];
  /** Run in the copy of its folder, in this order. */
  readonly build: readonly (readonly string[])[];
  /** Relative to the copy. */
  readonly command: readonly string[];
}

const RECIPES: Readonly<Record<Language, Recipe>> = {
  rust: {
    name: "Rust SDK (rmcp), by hand",
    needs: ["cargo"],
    build: [["cargo", "build", "--release", "--locked", "--target-dir", "target"]],
    command: ["target/release/peer"],
  },
  go: {
    name: "Go SDK, raw JSON",
    needs: ["go"],
    build: [["go", "build", "-o", "bin/peer", "."]],
    command: ["bin/peer"],
  },
  node: {
    name: "TypeScript SDK, low-level",
    needs: ["npm"],
    build: [["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]],
    command: [process.execPath, "main.mjs"],
  },
  java: {
    name: "Java SDK, stateless servlet",
    needs: ["javac", "mvn"],
    build: [
      ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"],
      ["javac", "-nowarn", "-cp", "lib/*", "-d", "out", "Peer.java"],
    ],
    command: ["java", "-cp", "lib/*:out", "Peer"],
  },
  python: {
    name: "Python SDK, low-level",
    needs: ["python3"],
    build: [
      ["python3", "-m", "venv", "venv"],
      ["venv/bin/pip", "install", "-q", "--disable-pip-version-check", "-r", "requirements.txt"],
    ],
    command: ["venv/bin/python", "main.py"],
  },
};

/** From the root of the repository. */
const SOURCES = "test/bench/peers";

/** The folder in which peers are built and kept for the next time: BENCH_CACHE, or one for temporary files. */
export const cacheFolder = (): string => process.env.BENCH_CACHE ?? join(tmpdir(), "sallyport-bench-peers");

/** Builds those of the peers that can be built on this machine. @param said hears what is done, because it takes minutes. */
export function buildPeers(languages: readonly Language[], said: (line: string) => void): Peers {
  const built: Peer[] = [];
  const skipped: string[] = [];
  for (const language of languages) {
    const { name, needs } = RECIPES[language];
    const missing = needs.filter((program) => !isOnPath(program));
    if (missing.length > 0) {
      skipped.push(`${name}: ${missing.join(" and ")} not found`);
      continue;
    }
    said(`building ${name} …`);
    const folder = join(cacheFolder(), language);
    const problem = build(language, folder);
    if (problem === undefined) built.push(peerOf(language, folder));
    else skipped.push(`${name}: ${problem}`);
  }
  return { built, skipped };
}

/** @returns what went wrong. */
function build(language: Language, folder: string): string | undefined {
  mkdirSync(folder, { recursive: true });
  // With the times of the sources: build tools then see what has not changed.
  cpSync(join(SOURCES, language), folder, { recursive: true, preserveTimestamps: true });
  for (const [program = "", ...args] of RECIPES[language].build) {
    const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: folder, encoding: "utf8" });
    if (status !== 0) return `${program} failed: ${error?.message ?? `${stdout}${stderr}`.trim().slice(-500)}`;
  }
  return undefined;
}

function peerOf(language: Language, folder: string): Peer {
  const { name, command } = RECIPES[language];
  return {
    language,
    name,
    async start({ path, tools, results }) {
      const fixture = mkdtempSync(join(tmpdir(), "sallyport-bench-"));
      writeFileSync(join(fixture, "tools.json"), JSON.stringify(tools));
      writeFileSync(join(fixture, "results.json"), JSON.stringify(results));
      const [program = "", ...args] = command;
      const own = program.includes("/") && !program.startsWith("/") ? join(folder, program) : program;
      const forget = (): void => rmSync(fixture, { recursive: true, force: true });
      try {
        const server = await startCommand([own, ...args], { cwd: folder, env: { FIXTURE: fixture, MCP_PATH: path } });
        return {
          ...server,
          stop: async () => {
            await server.stop();
            forget();
          },
        };
      } catch (error) {
        forget();
        throw error;
      }
    },
  };
}
