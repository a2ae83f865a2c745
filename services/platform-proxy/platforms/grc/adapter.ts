import { internal, permissionDenied } from "../../../shared/rpc/errors.js";
import type { Adapter, PlatformFile, RestRequest, Session } from "../../adapter.js";
import { countOf, listOf, rowsOf } from "../../lib/answers.js";
import type { HttpReply } from "../../lib/http.js";
import { isDenied } from "./denied.js";
import { refusalOf } from "./errors.js";
import { createCisoSessions } from "./sessions.js";

/** Who the platform says is calling, and where that user may go. */
export interface CisoMe {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** What owns things in the user's name, and what the platform calls an actor. */
  readonly actorId: string;
  readonly isAdministrator: boolean;
  /** The platform's codes of the roles that the user holds somewhere. */
  readonly roles: readonly string[];
  /** The folder above all tenants, where libraries live. */
  readonly rootId: string;
  /** The domains that the user may see, in any order. */
  readonly domains: readonly CisoDomain[];
  /** Codenames of what the user may do in at least one domain; "*" for an administrator. */
  readonly capabilities: readonly string[];
  /** Codenames of what the user may do in a domain, by its id. */
  readonly rights: ReadonlyMap<string, ReadonlySet<string>>;
}

/** A domain of the platform, an enclave of a supplier's audit among them: a tenant where its parent is the root. */
export interface CisoDomain {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** Absent where the caller may not see the parent. */
  readonly parentId: string | undefined;
  /** Where a third party is audited. */
  readonly isEnclave: boolean;
}

interface CurrentUser {
  readonly id: string;
  readonly email: string;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly actor_id?: string;
  readonly roles?: readonly string[];
  readonly is_admin: boolean;
  readonly root_folder_id: string;
  /** Codenames by domain; absent in versions that do not tell. */
  readonly domain_permissions?: Readonly<Record<string, unknown>> | null;
}

interface Folder {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly parent_folder: { readonly id?: string } | null;
  readonly content_type?: string | null;
}

/** How the adapter behaves. */
export interface CisoOptions {
  /** How long a session at the platform is kept without use, in milliseconds. */
  readonly idleMs?: number;
}

const IDLE_MS = 15 * 60_000;
const FOLDERS_A_PAGE = 500;
const MAX_FOLDERS = 5_000;
/** The kinds of folders that hold a tenant's objects: domains, and enclaves, where suppliers are audited. */
const OWNED = ["DO", "EN"];
/** What the platform calls the latter where it shows one. */
const ENCLAVE = "ENCLAVE";

/**
 * Speaks to a CISO-Assistant-compatible platform as the calling user: by a
 * session exchanged for our token (`exchange`), or with our token in every
 * request where the platform verifies it itself (`bearer`).
 */
export function createCisoAdapter({ idleMs = IDLE_MS }: CisoOptions = {}): Adapter {
  const sessions = createCisoSessions(idleMs);

  async function send(session: Session, request: RestRequest): Promise<HttpReply> {
    // Without it the platform redirects, and a redirected POST loses its body.
    if (!request.path.endsWith("/")) throw internal(`${request.path} lacks its final slash`);
    const read = request.read ?? request.verb === "GET";
    const once = (authorization: string) =>
      session.http.send(session, {
        verb: request.verb,
        path: request.path,
        ...(request.query !== undefined && { query: request.query }),
        ...(request.body !== undefined && { body: request.body }),
        ...(request.file !== undefined && { raw: request.file.bytes }),
        ...(request.isFile !== undefined && { isFile: request.isFile }),
        // Labels and messages come in the caller's language otherwise.
        headers: { authorization, "accept-language": "en", ...headersOf(request) },
        read,
      });
    const isBearer = session.target.auth === "bearer";
    const key = isBearer ? await session.token() : await sessions.keyOf(session);
    const reply = await once(isBearer ? `Bearer ${key}` : `Token ${key}`);
    // Refused before anything was done: a token that lost its trust, or a session that ended.
    if (reply.status !== 401) return reply;
    return once(isBearer ? `Bearer ${await session.token(true)}` : `Token ${await sessions.renew(session, key)}`);
  }

  async function rest<Body>(session: Session, request: RestRequest): Promise<Body> {
    const reply = await send(session, request);
    if (reply.status < 200 || reply.status > 299) throw refusalOf(reply, request.read ?? request.verb === "GET");
    if (reply.bytes !== undefined) {
      const mediaType = reply.headers["content-type"]?.split(";", 1)[0] ?? "";
      return { bytes: reply.bytes, mediaType } satisfies PlatformFile as Body;
    }
    return (reply.text === "" ? undefined : reply.json<Body>()) as Body;
  }

  async function domainsOf(session: Session): Promise<CisoDomain[]> {
    const domains: CisoDomain[] = [];
    for (let offset = 0; offset < MAX_FOLDERS; offset += FOLDERS_A_PAGE) {
      const answer = await rest<{ results?: unknown; count?: unknown } | undefined>(session, {
        verb: "GET",
        path: "/api/folders/",
        query: { content_type: OWNED, ordering: "name,id", limit: FOLDERS_A_PAGE, offset },
      });
      const results = rowsOf<Folder>("grc", answer?.results, "id");
      for (const { id, name, description, parent_folder, content_type } of results) {
        const isEnclave = content_type === ENCLAVE;
        domains.push({ id, name, description, parentId: parent_folder?.id, isEnclave });
      }
      if (domains.length >= countOf("grc", answer?.count) || results.length === 0) break;
    }
    return domains;
  }

  return {
    server: "grc",
    deniesRequest: isDenied,
    rest,
    async whoAmI(session) {
      const user = await rest<CurrentUser | undefined>(session, { verb: "GET", path: "/api/iam/current-user/" });
      if (typeof user?.email !== "string" || typeof user.root_folder_id !== "string") {
        throw permissionDenied(
          "CISO Assistant did not say which account is calling; its version may be too old, so an administrator checks it",
        );
      }
      const rights = rightsOf(user);
      const me: CisoMe = {
        id: user.id,
        email: user.email,
        name: [user.first_name, user.last_name].filter(Boolean).join(" "),
        actorId: user.actor_id ?? "",
        isAdministrator: user.is_admin === true,
        roles: user.roles ?? [],
        rootId: user.root_folder_id,
        domains: await domainsOf(session),
        capabilities: user.is_admin ? ["*"] : capabilitiesOf(rights),
        rights,
      };
      return { email: user.email, me };
    },
    async snapshot(session, me) {
      const { capabilities, domains } = me as CisoMe;
      const tenants = topmostOf(domains);
      try {
        const { version = "" } = await rest<{ version?: string }>(session, { verb: "GET", path: "/api/build/" });
        return { version, edition: "", capabilities, tenants };
      } catch {
        // What the caller may do is known all the same.
        return { version: "", edition: "", capabilities, tenants };
      }
    },
    async probe(http, target, signal) {
      try {
        const { status } = await http.send(
          { target, signal, tool: "probe" },
          { verb: "GET", path: "/api/health/", read: true },
        );
        return status === 200 ? undefined : `CISO Assistant's health check answered with status ${status}`;
      } catch (error) {
        return (error as Error).message;
      }
    },
    forget: (userId) => sessions.forget(userId),
    close: () => sessions.close(),
  };
}

/** The tenants of a caller: the topmost domains that they see. */
function topmostOf(domains: readonly CisoDomain[]): { readonly id: string; readonly name: string }[] {
  const seen = new Set(domains.map(({ id }) => id));
  return domains.filter(({ parentId = "" }) => !seen.has(parentId)).map(({ id, name }) => ({ id, name }));
}

/** What a request says besides: of a file its name, and that anything is taken for an answer. */
function headersOf({ file, isFile }: RestRequest): Record<string, string> {
  return {
    ...(isFile === true && { accept: "*/*" }),
    ...(file !== undefined && {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`,
    }),
  };
}

/** Every right that somebody has anywhere, and our name for what either of two allows. */
function capabilitiesOf(rights: CisoMe["rights"]): string[] {
  const all = new Set([...rights.values()].flatMap((one) => [...one]));
  if (all.has("change_appliedcontrol") || all.has("change_requirementassessment")) all.add("attach_evidence");
  return [...all];
}

/** What a user may do, by domain: domains of one role share one set, of some 400 names. */
function rightsOf({ domain_permissions }: CurrentUser): CisoMe["rights"] {
  const sets = new Map<string, ReadonlySet<string>>();
  const rights = new Map<string, ReadonlySet<string>>();
  for (const [domain, told] of Object.entries(domain_permissions ?? {})) {
    // What is no name is no right.
    const codenames = listOf<unknown>("grc", told).filter((one) => typeof one === "string");
    const text = [...codenames].sort().join();
    const set = sets.get(text) ?? new Set(codenames);
    sets.set(text, set);
    rights.set(domain, set);
  }
  return rights;
}
