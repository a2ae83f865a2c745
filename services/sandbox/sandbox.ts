import type { Listener } from "./listener.js";

/** A built-in platform: a real HTTP server with the API, rights and refusals of the kind it stands for. */
export interface Sandbox {
  /** Where it is called, without a trailing slash. */
  readonly url: string;
  /** Ends its server and every connection to it. */
  close(): Promise<void>;
}

/** Where a built-in platform listens, and whom it trusts. */
export interface SandboxOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** What it calls itself, the audience it expects; its own address where left out. */
  readonly publicUrl?: string;
  /** The file in which it keeps its objects over restarts; in memory alone where left out. */
  readonly file?: string;
  /** What listens for it already, in place of host and port. */
  readonly listener?: Listener;
  /** The base URL of the service whose tokens it trusts. */
  readonly trust: string;
  /** The delay of every answer, in milliseconds; none if omitted. */
  readonly latencyMs?: number;
}
