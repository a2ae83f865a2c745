import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** The process of the hostile remotes. */
export interface Host {
  readonly process: ChildProcess;
  readonly url: string;
  /** How often each path was asked for each method. */
  asked(): Promise<Readonly<Record<string, number>>>;
  end(): void;
}

/** Starts it. */
export async function startHost(): Promise<Host> {
  const child = fork(fileURLToPath(new URL("host.ts", import.meta.url)), {
    execArgv: ["--import", "tsx", "--conditions=house:source"],
  });
  const [port] = (await once(child, "message")) as [number];
  return {
    process: child,
    url: `http://127.0.0.1:${port}`,
    async asked() {
      child.send("asked");
      const [counts] = (await once(child, "message")) as [Record<string, number>];
      return counts;
    },
    end: () => void child.kill("SIGKILL"),
  };
}
