import { permissionDenied } from "../../../shared/rpc/errors.js";
import type { Adapter, Session } from "../../adapter.js";
import type { DataOf, Document } from "../../document.js";
import { misshapen } from "../../lib/answers.js";
import type { HttpReply } from "../../lib/http.js";
import { isDenied } from "./denied.js";
import { type GraphqlError, refusalOf, unreadable } from "./errors.js";
import { operation } from "./graphql.js";

/** Who the platform thinks is calling; what it is cleared for, it may see and set. */
export const ME = operation(`
  query Me {
    me {
      id
      name
      user_email
      capabilities {
        name
      }
      allowed_marking {
        id
        standard_id
        definition
        definition_type
      }
      draftContext {
        name
      }
    }
  }
`);

/** The platform's version. */
export const ABOUT = operation(`
  query About {
    about {
      version
    }
  }
`);

/** The platform's answer to "who am I". */
export type Me = DataOf<typeof ME>["me"];

/** A marking that the caller is cleared for. */
export type Marking = NonNullable<Me["allowed_marking"]>[number];

/**
 * Speaks to OpenCTI-compatible platforms: GraphQL over POST /graphql, with a
 * token signed for the caller. Every exchange names the live graph, so that a
 * draft the caller has open elsewhere is neither read nor written, and every
 * mutation asks that references which cannot be resolved are errors.
 */
export function createOpenctiAdapter(): Adapter {
  return {
    server: "cti",
    async whoAmI(session) {
      const { me } = await graphql(session, ME, {});
      if (typeof me?.user_email !== "string" || !Array.isArray(me.capabilities)) {
        throw permissionDenied(
          "OpenCTI did not say which account is calling; its version may be too old, so an administrator checks it",
        );
      }
      return { email: me.user_email, me };
    },
    async snapshot(session, me) {
      const { about } = await graphql(session, ABOUT, {});
      return { version: about?.version ?? "", edition: "", capabilities: capabilitiesOf(me as Me) };
    },
    deniesDocument: isDenied,
    graphql,
    async probe(http, target, signal) {
      try {
        const reply = await http.send(
          { target, signal, tool: "probe" },
          { verb: "POST", path: "/graphql", body: { query: ABOUT.text }, headers: LIVE, read: true },
        );
        const body = reply.json<Body>();
        if (body.data !== undefined || body.errors !== undefined) return undefined;
        return `OpenCTI answered with status ${reply.status}, and the answer is not GraphQL`;
      } catch (error) {
        return (error as Error).message;
      }
    },
  };
}

/** Every capability held, those above it included; "*" for an administrator. */
export function capabilitiesOf({ capabilities }: Pick<Me, "capabilities">): string[] {
  const held = new Set<string>();
  for (const { name } of capabilities) {
    if (name === "BYPASS") return ["*"];
    const parts = name.split("_");
    parts.forEach((_, at) => {
      held.add(parts.slice(0, at + 1).join("_"));
    });
  }
  return [...held].sort();
}

interface Body {
  readonly data?: unknown;
  readonly errors?: readonly GraphqlError[];
}

// Empty means live; absent would mean the draft that the account has open.
const LIVE = { "opencti-draft-id": "" };
const STRICT = { ...LIVE, "opencti-retry-number": "1" };

async function graphql<Data, Variables>(
  session: Session,
  document: Document<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const { writes } = document;
  let reply = await send(session, document, variables, false);
  let body = bodyOf(reply, session, writes);
  // Nothing was done: the token may have grown old on the way.
  if (isUnauthenticated(body)) {
    reply = await send(session, document, variables, true);
    body = bodyOf(reply, session, writes);
  }
  const { data, errors } = body;
  if (errors && errors.length > 0) throw refusalOf(errors, session.caller.email, writes);
  if (data === undefined || data === null) throw unreadable(reply.status, writes);
  if (isOverfull(data, variables)) throw misshapen("cti", "more rows than the call asked for");
  return data as Data;
}

/** The most rows of a list where a page asks for fewer; other lists of its operation may ask for as many. */
const MOST_ROWS = 500;

/** A list has many more rows than a page of it: each costs us more than its text. */
function isOverfull(data: unknown, variables: unknown): boolean {
  const { first } = variables as { readonly first?: unknown };
  if (typeof first !== "number") return false;
  const most = Math.max(first, MOST_ROWS);
  return Object.values(data as object).some(
    (list: { readonly edges?: unknown } | null) => Array.isArray(list?.edges) && list.edges.length > most,
  );
}

/** The platform does not take the token, and nothing of the operation was done. */
function isUnauthenticated({ data, errors }: Body): boolean {
  return errors?.[0]?.extensions?.code === "AUTH_REQUIRED" && Object.values(data ?? {}).every((root) => root === null);
}

async function send<Data, Variables>(
  session: Session,
  { text, writes }: Document<Data, Variables>,
  variables: Variables,
  fresh: boolean,
): Promise<HttpReply> {
  return session.http.send(session, {
    verb: "POST",
    path: "/graphql",
    headers: { ...(writes ? STRICT : LIVE), authorization: `Bearer ${await session.token(fresh)}` },
    body: { query: text, variables },
    read: !writes,
  });
}

function bodyOf(reply: HttpReply, session: Session, writes: boolean): Body {
  try {
    const body = JSON.parse(reply.text) as Body | null;
    if (typeof body === "object" && body !== null && (body.data !== undefined || Array.isArray(body.errors)))
      return body;
  } catch {
    // Something between us and the platform answered.
  }
  throw unreadable(reply.status, writes, session.caller.email);
}
