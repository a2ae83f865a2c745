import { LRUCache } from "lru-cache";
import { EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import type { BearerCredentials } from "../../services/shared/credentials/credentials.js";
import type { Known } from "../../services/shared/credentials/known.js";
import { EVERYONE } from "../../services/shared/credentials/reach.js";
import { recentlyUsed } from "../../services/shared/limits/recently-used.js";
import { CORE } from "../../services/shared/platforms.js";
import { askWithin } from "../../services/shared/rpc/ask.js";
import type { Dispatch } from "../../services/shared/rpc/dispatch.js";
import type { ListOptions } from "./endpoint-query.js";
import type { ServedTool } from "./served-tool.js";
import { type ServerTools, type View, viewOf } from "./tools-list.js";

/** Knows which tools a caller sees. */
export interface VisibleTools {
  /**
   * What the caller sees on a server through a URL that asks for this.
   *
   * @throws ConnectError where the catalogue cannot say.
   */
  of(known: Known, server: string, options: ListOptions): View | Promise<View>;
  /** Listens to events no more. */
  close(): void;
}

/** Whom the catalogue's answers are asked of, until when they hold, and the tools they name. */
export interface VisibleToolsOptions {
  readonly dispatch: Dispatch;
  readonly credentials: Pick<BearerCredentials, "leased" | "onEvent">;
  readonly servers: ReadonlyMap<string, ServerTools>;
}

/** The tools of one caller on one server. */
interface Visible {
  readonly names: readonly string[];
  /** Not in the list, but a call is let through to say why the platform does not answer. */
  readonly unlisted: readonly string[];
  /** The names of the caller's tenants, by id, if there are several. */
  readonly tenants: ReadonlyMap<string, string>;
  readonly signature: string;
  readonly until: number;
  readonly views: Map<string, View>;
}

/** A question to the catalogue that has no answer yet. */
interface Asking {
  readonly user: string;
  readonly server: string;
  /** An event has come since: the answer may be of before it. */
  isStale: boolean;
  answer: Promise<Visible>;
}

const TIMEOUT_MS = 5_000;
const MAX_USERS = 20_000;
const MAX_VIEWS = 512;
const MAX_QUERIES = 16;

/** What is kept of one server: of each user, by what the user came with. */
type Kept = LRUCache<string, WeakMap<Known, Visible>>;

/**
 * Asks the catalogue on the caller's behalf and keeps the answer as long as it
 * says, under the lease; an event about the user, what the user reaches, a
 * switch or a platform drops it. Callers who see the same tools share the same
 * bytes.
 */
export function createVisibleTools({ dispatch, credentials, servers }: VisibleToolsOptions): VisibleTools {
  const byServer = new Map<string, Kept>([...servers.keys()].map((name) => [name, recentlyUsed(MAX_USERS)]));
  const asking = new WeakMap<Known, Map<string, Asking>>();
  /** What is asked now: what an event is about is not kept, and what others ask is. */
  const inFlight = new Set<Asking>();
  const shared = new LRUCache<string, View>({ max: MAX_VIEWS });
  const close = credentials.onEvent(({ kind, id }) => {
    if (kind === "key") return;
    const user = kind === "user" || (kind === "reach" && id !== EVERYONE) ? id : undefined;
    const isAbout = (server: string): boolean => kind !== "reach" || server === CORE.name;
    for (const [server, kept] of byServer) {
      if (!isAbout(server)) continue;
      if (user === undefined) kept.clear();
      else kept.delete(user);
    }
    for (const one of inFlight) if (isAbout(one.server) && (user ?? one.user) === one.user) one.isStale = true;
  });

  async function ask(known: Known, server: string): Promise<Visible> {
    const { tools, unlisted, keepMs, tenants } = await askWithin(TIMEOUT_MS, (deadline) =>
      dispatch.unary(
        EndpointService.method.listVisibleTools,
        { server },
        { credential: { assertion: known.assertions.catalogue ?? "" }, deadline },
      ),
    );
    return {
      names: tools,
      unlisted,
      tenants: new Map(tenants.map(({ id, name }) => [id, name])),
      signature: `${server} ${tools.join(" ")} / ${unlisted.join(" ")}`,
      until: Date.now() + keepMs,
      views: new Map(),
    };
  }

  function keep(known: Known, server: string, visible: Visible): void {
    const kept = byServer.get(server) as Kept;
    const mine = kept.get(known.caller.id) ?? new WeakMap<Known, Visible>();
    mine.set(known, visible);
    kept.set(known.caller.id, mine);
  }

  /** One request at a time for the same caller and server. */
  function askOnce(known: Known, server: string): Promise<Visible> {
    const mine = asking.get(known) ?? new Map<string, Asking>();
    asking.set(known, mine);
    const running = mine.get(server);
    if (running !== undefined && !running.isStale) return running.answer;
    const one: Asking = { user: known.caller.id, server, isStale: false, answer: ask(known, server) };
    one.answer = one.answer
      .then((visible) => {
        if (!one.isStale && visible.until > Date.now()) keep(known, server, visible);
        return visible;
      })
      .finally(() => {
        inFlight.delete(one);
        if (mine.get(server) === one) mine.delete(server);
      });
    mine.set(server, one);
    inFlight.add(one);
    return one.answer;
  }

  function view(visible: Visible, server: string, options: ListOptions): View {
    const own = visible.views.get(options.key);
    if (own !== undefined) return own;
    const key = `${visible.signature}?${options.key}`;
    let found = shared.get(key);
    if (found === undefined) {
      const own = servers.get(server) as ServerTools;
      const named = (names: readonly string[]): ServedTool[] => {
        const wanted = new Set(names);
        return own.tools.filter(({ tool }) => wanted.has(tool.name));
      };
      found = viewOf(own, named(visible.names), named(visible.unlisted), options);
    }
    // Views are shared by callers who see the same tools; tenants are the caller's own.
    const mine = visible.tenants.size === 0 ? found : { ...found, tenants: visible.tenants };
    // One caller who asks for many queries pushes nobody's views out, nor fills the memory with lists.
    if (visible.views.size < MAX_QUERIES) {
      visible.views.set(options.key, mine);
      shared.set(key, found);
    }
    return mine;
  }

  return {
    close,
    of(known, server, options) {
      const kept = byServer.get(server)?.get(known.caller.id)?.get(known);
      if (kept !== undefined && kept.until > Date.now() && credentials.leased()) return view(kept, server, options);
      return askOnce(known, server).then((visible) => view(visible, server, options));
    },
  };
}
