import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";

const here = import.meta.dirname;
/** It lives for seconds: to optimise what it runs, and to collect in threads of their own, costs more than it saves. */
const SHORT_LIVED = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/** Why the server cannot be started here; undefined when it can. */
export const missing: string | undefined = whatIsMissing();

/** A running server, in memory, that nothing of ours implements. */
export interface MongoJavaServer {
  readonly uri: string;
  stop(): void;
}

/** Starts the server on a free port; resolves when it answers. */
export async function startMongoJavaServer(): Promise<MongoJavaServer> {
  const classes = [join(here, "lib", "*"), join(here, "lib")].join(delimiter);
  const java = spawn("java", [...SHORT_LIVED, "-cp", classes, "Server"], { stdio: ["pipe", "pipe", "inherit"] });
  for await (const line of createInterface(java.stdout))
    if (line.startsWith("mongodb://")) return { uri: line.trim(), stop: () => java.stdin.end() };
  throw new Error("the server ended before it answered");
}

function whatIsMissing(): string | undefined {
  const onPath = (process.env.PATH ?? "").split(delimiter).some((dir) => existsSync(join(dir, "java")));
  if (!onPath) return "no java";
  return existsSync(join(here, "lib", "Server.class")) ? undefined : "its jars are not installed";
}
