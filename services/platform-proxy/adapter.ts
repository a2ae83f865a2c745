import type { PlatformServer } from "../shared/platforms.js";
import type { Caller } from "../shared/rpc/call.js";
import type { Document } from "./document.js";
import type { HttpClient, Query } from "./lib/http.js";

/** A registered platform: where it is called, and what it calls itself. */
export interface Target {
  readonly server: PlatformServer;
  /** The address to call, without a trailing slash. */
  readonly url: string;
  /** The audience of its tokens. */
  readonly publicUrl: string;
  /** How it takes our token: `bearer`, or `exchange` for a session of its own. */
  readonly auth: string;
  /** The client id of the exchange. */
  readonly clientId: string;
}

/** One caller's use of one platform during one call. */
export interface Session {
  readonly caller: Caller;
  readonly target: Target;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly deadline: number | undefined;
  readonly traceparent: string | undefined;
  /** The rpc that is being answered, for the platform's own audit. */
  readonly tool: string;
  readonly http: HttpClient;
  /** A token signed for the caller and this platform; `fresh` for one never presented before. */
  token(fresh?: boolean): Promise<string>;
}

/** What the platform, and the caller on it, can do. */
export interface Snapshot {
  readonly version: string;
  readonly edition: string;
  /** Implied ones included; "*" stands for all. */
  readonly capabilities: readonly string[];
  /** The caller's tenants; absent on platforms without tenants. */
  readonly tenants?: readonly { readonly id: string; readonly name: string }[];
}

/** One exchange with a REST platform. */
export interface RestRequest {
  readonly verb: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From the platform's root, such as /api/scenarios/search. */
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** Sent in place of a body, as multipart/form-data (RFC 7578). */
  readonly form?: FormData;
  /** The answer is a text, and given as it came. */
  readonly text?: boolean;
  /** A file that is sent in place of a body. */
  readonly file?: { readonly name: string; readonly bytes: Uint8Array };
  /** The answer is a file, given as {@link PlatformFile}. */
  readonly isFile?: boolean;
  /** A read although its verb is POST, such as a search; reads may be retried. */
  readonly read?: boolean;
  /** A write of what is there already, for its answer: a refusal after it has changed nothing. */
  readonly changesNothing?: boolean;
}

/** A file that a platform handed out. */
export interface PlatformFile {
  readonly bytes: Uint8Array;
  /** Its media type, without parameters; "" where the platform does not say. */
  readonly mediaType: string;
}

/** Whether an exchange changes nothing at the platform. */
export function isRead({ verb, read = verb === "GET" }: RestRequest): boolean {
  return read;
}

/** What platforms/NAME/platform.ts says of a kind of platform; platforms/NAME/tools/ says how its tools are answered. */
export interface PlatformKind {
  readonly server: PlatformServer;
  createAdapter(): Adapter;
}

/** How one kind of platform is spoken to: one folder a kind in platforms/. */
export interface Adapter {
  readonly server: PlatformServer;
  /** Asks the platform who it thinks is calling. */
  whoAmI(session: Session): Promise<{ readonly email: string; readonly me: unknown }>;
  snapshot(session: Session, me: unknown): Promise<Snapshot>;
  /** Whether a GraphQL document administers the platform, which no tool may do; without it none is sent. */
  readonly deniesDocument?: (document: string) => boolean;
  /** Whether an exchange administers the platform, which no tool may do; without it none is sent. */
  readonly deniesRequest?: (request: RestRequest) => boolean;
  graphql?<Data, Variables>(session: Session, document: Document<Data, Variables>, variables: Variables): Promise<Data>;
  rest?<Body>(session: Session, request: RestRequest): Promise<Body>;
  /** Whether the platform answers at all, without acting as anybody; the reason where it does not. */
  probe(http: HttpClient, target: Target, signal: AbortSignal): Promise<string | undefined>;
  /** Ends what is kept for a user at the platform. */
  forget?(userId: string): Promise<void>;
  close?(): Promise<void>;
}
