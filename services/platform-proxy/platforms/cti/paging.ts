import { invalidArgument } from "../../../shared/rpc/errors.js";
import { digestOf } from "../../lib/page-token.js";

/** The paging of a platform's answer. */
export interface PageInfo {
  readonly endCursor: string;
  readonly hasNextPage: boolean;
  readonly globalCount: number;
}

/** One page as the platform answers it. */
export interface Connection<Node> {
  readonly edges: readonly { readonly node: Node }[] | null;
  readonly pageInfo: PageInfo;
}

export const PAGE = `pageInfo { endCursor hasNextPage globalCount }`;

const DEFAULT_ROWS = 20;

/** Where a page begins, bound to its query: the platform would take a cursor of any other and answer with a wrong page. */
export interface Place {
  readonly first: number;
  readonly after: string | null;
  /** The token of the page that follows an answer; "" on the last. */
  next(page: Connection<unknown>): string;
}

/**
 * Reads a page token.
 *
 * @param query everything that decides what the pages hold.
 * @throws ConnectError invalid_argument, where the token is of another query.
 */
export function placeOf(
  request: { readonly pageSize?: number | undefined; readonly pageToken: string },
  query: unknown,
): Place {
  const digest = digestOf(query);
  const { seen, after } = read(request.pageToken, digest);
  return {
    first: request.pageSize ?? DEFAULT_ROWS,
    after,
    next({ edges, pageInfo }) {
      const reached = seen + (edges?.length ?? 0);
      // The platform announces a page after one that happens to be full.
      if (!pageInfo.hasNextPage || pageInfo.endCursor === "" || reached >= pageInfo.globalCount) return "";
      return Buffer.from(JSON.stringify([digest, reached, pageInfo.endCursor])).toString("base64url");
    },
  };
}

function read(token: string, digest: string): { readonly seen: number; readonly after: string | null } {
  if (token === "") return { seen: 0, after: null };
  const parts = parse(token);
  if (parts === undefined) throw invalidArgument("page_token: is not a token that this tool gave; begin without one");
  if (parts[0] !== digest) {
    throw invalidArgument("page_token: belongs to another query; keep the query as it was, or begin without a token");
  }
  return { seen: parts[1], after: parts[2] };
}

function parse(token: string): readonly [string, number, string] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    if (!Array.isArray(parts)) return undefined;
    const [digest, seen, cursor] = parts as unknown[];
    if (typeof digest !== "string" || typeof seen !== "number" || typeof cursor !== "string") return undefined;
    return [digest, seen, cursor];
  } catch {
    return undefined;
  }
}

export const nodesOf = <Node>(page: Connection<Node> | null | undefined): Node[] =>
  (page?.edges ?? []).map(({ node }) => node);
