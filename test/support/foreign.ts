import { type SpawnOptionsWithoutStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const FOREIGN = join(import.meta.dirname, "../foreign");

/** Foreign clients, by the path of their program; test/foreign/install.sh brings them. */
export const PYTHON = join(FOREIGN, "python/.venv/bin/python");
export const GRPCURL = join(FOREIGN, "grpcurl/bin/grpcurl");
export const CLAUDE = join(FOREIGN, "claude-code/node_modules/.bin/claude");

export const isInstalled = (program: string): boolean => existsSync(program);

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
