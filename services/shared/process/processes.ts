import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import {
  type Answered,
  type AskedOptions,
  createAsked,
  type Ending,
  type Hearing,
  type Ready,
  type Running,
  type Thread,
  type ThreadMethods,
  type Told,
} from "./asked.js";
import { moduleAt, startEnvironment, startFlags } from "./start-flags.js";

/** What a process may take: one that takes more is ended. */
export interface ProcessBounds {
  /** Of heap. */
  readonly megabytes: number;
  /** Of memory, all of it: what is unpacked is beside the heap. */
  readonly wholeMegabytes: number;
  /** How long it may compute within ten seconds, in milliseconds. */
  readonly busyMs: number;
  /** Every other process goes first. */
  readonly isLow: boolean;
}

/** How a process is bounded. */
export interface ProcessOptions extends ProcessBounds, AskedOptions {}

/** What the process is told that starts the others. */
export type ToStarter =
  | { readonly id: number; readonly module: string; readonly bounds: ProcessBounds }
  | { readonly id: number; readonly post: unknown }
  | { readonly id: number; readonly end: true };

/** What it says: what a process said, or that one ended, and how. */
type FromStarter =
  | { readonly id: number; readonly said: Answered | Ready | Told }
  | { readonly id: number; readonly ended: Ending | "" };

/** Starts processes, whose memory is all given back when they end. */
export interface Processes {
  /** Starts what starts them, which is cheap while this process is small. */
  prepare(): void;
  /**
   * As createThread, but in a process of its own.
   *
   * @param url of the module that it runs, written with .js as in an import, which calls serveThread.
   */
  create<M extends ThreadMethods>(url: URL, options: ProcessOptions): Thread<M>;
  close(): Promise<void>;
}

/** Heap of the process that starts the others, in megabytes: it passes on what they are asked and answer. */
const STARTER_MEGABYTES = 256;
const ENDED = "the process ended";

/** Begins without a process. */
export function createProcesses(): Processes {
  const heard = new Map<number, Hearing & { gone(): void }>();
  let starter: ChildProcess | undefined;
  let started = 0;

  function begin(): ChildProcess {
    const module = moduleAt(new URL("starter.js", import.meta.url));
    const one = fork(fileURLToPath(module), [], {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      execArgv: startFlags(module, STARTER_MEGABYTES),
      env: startEnvironment(),
    });
    // A process that has nothing else to do ends, and these with it.
    one.unref();
    one.channel?.unref();
    one.on("message", (message: FromStarter) => {
      const hearing = heard.get(message.id);
      if ("said" in message) return hearing?.said(message.said);
      heard.delete(message.id);
      hearing?.gone();
      hearing?.ended(ENDED, message.ended === "" ? undefined : message.ended);
    });
    const lost = (): void => {
      if (starter !== one) return;
      starter = undefined;
      const all = [...heard.values()];
      heard.clear();
      for (const { gone, ended } of all) {
        gone();
        ended(ENDED, "killed");
      }
    };
    one.once("exit", lost);
    one.on("error", lost);
    return one;
  }

  function tell(message: ToStarter): void {
    starter?.send(message, () => undefined);
  }

  function start(module: string, bounds: ProcessBounds, hearing: Hearing): Running {
    starter ??= begin();
    const id = ++started;
    const gone = new Promise<void>((resolve) => heard.set(id, { ...hearing, gone: resolve }));
    tell({ id, module, bounds });
    return {
      post: (post) => tell({ id, post }),
      end() {
        if (heard.has(id)) tell({ id, end: true });
        return gone;
      },
    };
  }

  return {
    prepare() {
      starter ??= begin();
    },
    create(url, { megabytes, wholeMegabytes, busyMs, isLow, ...options }) {
      const bounds = { megabytes, wholeMegabytes, busyMs, isLow };
      return createAsked((hearing) => start(moduleAt(url), bounds, hearing), options);
    },
    async close() {
      const one = starter;
      if (one === undefined) return;
      const ended = new Promise((resolve) => one.once("exit", resolve));
      one.disconnect();
      await ended;
    },
  };
}
