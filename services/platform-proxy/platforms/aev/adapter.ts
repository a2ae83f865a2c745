import { permissionDenied, unavailable } from "../../../shared/rpc/errors.js";
import { type Adapter, isRead, type RestRequest, type Session, type Snapshot } from "../../adapter.js";
import type { HttpReply } from "../../lib/http.js";
import { isDenied } from "./denied.js";
import { refusalOf } from "./errors.js";
import { DEFAULT_TENANT, type OpenaevMe, type OpenaevTenant, openTenants } from "./me.js";

interface Settings {
  readonly platform_version?: string | null;
  readonly platform_license?: { readonly license_is_enterprise?: boolean } | null;
}

/**
 * Speaks to an OpenAEV-compatible platform: JSON over REST under /api, a token
 * signed for the caller on every request. No cookie is ever sent or kept: a
 * session is a credential of its own, and any cookie beside a token makes the
 * platform refuse writes.
 */
export function createOpenaevAdapter(): Adapter {
  return {
    server: "aev",
    async whoAmI(session) {
      const [user, tenants] = await Promise.all([
        read<OpenaevMe["user"]>(session, "/api/me"),
        read<OpenaevMe["tenants"]>(session, "/api/me/tenants"),
      ]);
      if (typeof user?.user_email !== "string" || !Array.isArray(tenants) || !tenants.every(isTenant)) {
        throw permissionDenied(
          "OpenAEV did not say which account is calling; its version may be too old, so an administrator checks it",
        );
      }
      return { email: user.user_email, me: { user, tenants } satisfies OpenaevMe };
    },
    async snapshot(session, me) {
      const settings = await read<Settings>(session, "/api/settings");
      return {
        version: settings?.platform_version ?? "",
        edition: settings?.platform_license?.license_is_enterprise === true ? "enterprise" : "community",
        capabilities: capabilitiesOf(me as OpenaevMe),
        tenants: openTenants((me as OpenaevMe).tenants).map(({ tenant_id: id, tenant_name: name }) => ({ id, name })),
      };
    },
    deniesRequest: isDenied,
    rest: <Body>(session: Session, request: RestRequest) => exchange<Body>(session, request),
    async probe(http, target, signal) {
      const reply = await http
        .send({ target, signal, tool: "Probe" }, { verb: "GET", path: "/api/settings/public", read: true })
        .catch((error: unknown) => error as Error);
      if (reply instanceof Error) return reply.message;
      return reply.status === 200 ? undefined : `OpenAEV answered with status ${reply.status}`;
    },
  };
}

/** A tenant's id stands in the path of every request. */
const TENANT_ID = /^[\w-]{1,64}$/;

function isTenant(said: unknown): said is OpenaevTenant {
  const { tenant_id: id } = (said ?? {}) as { readonly tenant_id?: unknown };
  return typeof id === "string" && TENANT_ID.test(id);
}

/**
 * What the caller can do: the platform's own capabilities, which imply no
 * others there; those that a grant on an object stands for on that object; and
 * our names for what several allow: CREATE_ASSESSMENT for MANAGE_ASSESSMENT,
 * which no grant stands for, and SEARCH_FINDINGS for whatever shows some.
 */
export function capabilitiesOf({ user, tenants }: OpenaevMe): Snapshot["capabilities"] {
  if (user.user_is_admin_or_bypass || user.user_admin || user.user_capabilities.includes("BYPASS")) return ["*"];
  // The answer speaks of the default tenant alone: of members of others it says too little.
  if (openTenants(tenants).some((tenant) => tenant.tenant_id !== DEFAULT_TENANT)) return ["*"];

  const all = new Set(user.user_capabilities);
  if (all.has("MANAGE_ASSESSMENT")) all.add("CREATE_ASSESSMENT");
  for (const level of Object.values(user.user_grants)) {
    // It is not said what a grant is on: a plan, a test or a payload.
    all.add("ACCESS_ASSESSMENT").add("ACCESS_PAYLOADS");
    if (level === "PLANNER" || level === "LAUNCHER") {
      all.add("MANAGE_ASSESSMENT").add("DELETE_ASSESSMENT").add("MANAGE_PAYLOADS").add("DELETE_PAYLOADS");
    }
    if (level === "LAUNCHER") all.add("LAUNCH_ASSESSMENT");
  }
  if (["ACCESS_FINDINGS", "ACCESS_ASSESSMENT", "ACCESS_ASSETS"].some((right) => all.has(right))) {
    all.add("SEARCH_FINDINGS");
  }
  return [...all].sort();
}

function read<Body>(session: Session, path: string): Promise<Body> {
  return exchange<Body>(session, { verb: "GET", path });
}

async function exchange<Body>(session: Session, request: RestRequest): Promise<Body> {
  const reads = isRead(request);
  let reply = await send(session, request, reads, false);
  // Nothing was done: the token may have grown old on the way.
  if (reply.status === 401) reply = await send(session, request, reads, true);
  if (reply.status >= 400) throw refusalOf(reply, { session, request, isRead: reads });
  if (reply.status >= 300)
    throw unavailable(
      "OpenAEV redirects to another address; an administrator checks the address under which it is registered",
    );
  if (request.text === true) return reply.text as Body;
  return (reply.text === "" ? undefined : reply.json<Body>()) as Body;
}

async function send(session: Session, request: RestRequest, read: boolean, fresh: boolean): Promise<HttpReply> {
  const { verb, path, query, body, form } = request;
  const multipart = form === undefined ? undefined : new Response(form);
  const type = multipart?.headers.get("content-type");
  return session.http.send(session, {
    verb,
    path,
    ...(query !== undefined && { query }),
    ...(body !== undefined && { body }),
    ...(multipart !== undefined && { raw: new Uint8Array(await multipart.arrayBuffer()) }),
    headers: { authorization: `Bearer ${await session.token(fresh)}`, ...(type != null && { "content-type": type }) },
    read,
  });
}
