import { type SpawnOptionsWithoutStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const FOREIGN = join(import.meta.dirname, "../foreign");

/** Foreign clients, by the path of their program; test/foreign/install.sh brings them. */
export const PYTHON = join(FOREIGN, "python/.venv/bin/python");
export const GRPCURL = join(FOREIGN, "grpcurl/bin/grpcurl");
export const CLAUDE = join(FOREIGN, "claude-code/node_modules/.bin/claude");
export const CODEX = join(FOREIGN, "codex/node_modules/.bin/codex");
export const MCPB = join(FOREIGN, "mcpb/node_modules/.bin/mcpb");
export const SKILLS_REF = join(FOREIGN, "skills-ref/node_modules/.bin/skills-ref");
/** In the environment of Python: a reader of agent plugins that is not ours. */
export const AGENT_PLUGINS = join(FOREIGN, "python/.venv/bin/agent-plugins");

/** The schema of server.json, from the module of the MCP registry. */
export const SERVER_JSON_SCHEMA = join(FOREIGN, "registry/bin/2025-12-11.json");

/** The samples of docs/integrating that have to be compiled: test/foreign/install.sh --samples. */
export const GO_SAMPLE = join(FOREIGN, "go/bin/agents");
export const JAVA_CLASSPATH = join(FOREIGN, "java/bin/classpath");

export const isInstalled = (program: string): boolean => existsSync(program);

/** Whether a program is to be found by its name. */
export const isOnPath = (program: string): boolean =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));

/** Runs a foreign program to its end. */
export function run(
  program: string,
  args: readonly string[],
  { input = "", ...options }: SpawnOptionsWithoutStdio & { readonly input?: string } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, options);
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(input);
  });
}

/** The path of a file under test/foreign. */
export const foreignFile = (path: string): string => join(FOREIGN, path);
