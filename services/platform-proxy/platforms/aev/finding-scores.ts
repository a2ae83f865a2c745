import { Code, ConnectError } from "@connectrpc/connect";
import type { Platform } from "../../platform.js";
import type { UpstreamFinding } from "./finding.js";
import type { Order } from "./list.js";
import { oneOf, type Search, searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";

/** Scores by identifier, in lower case. */
export type Scores = ReadonlyMap<string, number>;

/** Findings whose scores are looked up to order them. */
const MAX_FINDINGS = 10_000;
/** Identifiers that are looked up at once. */
const PIECE = 200;

/** The caller may not see vulnerabilities, or the platform cannot be asked for them by identifier. */
const REFUSED = new Set([Code.PermissionDenied, Code.InvalidArgument]);

/** The scores of findings that are CVEs, as far as the caller may see them: one request for a page. */
export async function scoresOf(
  platform: Platform,
  tenant: TenantScope,
  rows: readonly UpstreamFinding[],
): Promise<Scores> {
  try {
    return await lookedUp(platform, tenant, rows);
  } catch (error) {
    // A page is worth more than its scores.
    if (error instanceof ConnectError && REFUSED.has(error.code)) return new Map();
    throw error;
  }
}

async function lookedUp(platform: Platform, tenant: TenantScope, rows: readonly UpstreamFinding[]): Promise<Scores> {
  const wanted = [...new Set(rows.filter(isCve).map((row) => row.finding_value.trim()))];
  const scores = new Map<string, number>();
  for (let at = 0; at < wanted.length; at += PIECE) {
    const identifiers = wanted.slice(at, at + PIECE);
    const search: Search = {
      route: "/vulnerabilities/search",
      idKey: "vulnerability_id",
      // Their case is told apart.
      filters: oneOf("vulnerability_external_id", [...new Set(identifiers.flatMap((one) => [one, one.toUpperCase()]))]),
      sorts: [{ property: "vulnerability_external_id", direction: "asc" }],
    };
    for await (const one of searchAll<UpstreamScore>(platform, tenant, search, 2 * PIECE)) {
      const { vulnerability_external_id: identifier, vulnerability_cvss_v31: score } = one;
      if (score != null) scores.set(identifier.toLowerCase(), score);
    }
  }
  return scores;
}

interface UpstreamScore {
  readonly vulnerability_external_id: string;
  readonly vulnerability_cvss_v31?: number | null;
}

/** The scores of everything that a list of findings may hold. */
export async function scoresIn(
  platform: Platform,
  tenant: TenantScope,
  list: Pick<Search, "route" | "filters">,
): Promise<Scores> {
  const search: Search = {
    ...list,
    idKey: "finding_id",
    sorts: [{ property: "finding_created_at", direction: "desc" }],
  };
  const found: UpstreamFinding[] = [];
  for await (const row of searchAll<UpstreamFinding>(platform, tenant, search, MAX_FINDINGS)) found.push(row);
  return lookedUp(platform, tenant, found);
}

/** The score of a finding, where it has one. */
export function scoreIn(scores: Scores, row: UpstreamFinding): number | undefined {
  return isCve(row) ? scores.get(row.finding_value.trim().toLowerCase()) : undefined;
}

/** The highest score first; of equal ones the newest finding. */
export function worstFirst(scores: Scores): Order<UpstreamFinding> {
  return {
    sorts: [{ property: "finding_created_at", direction: "desc" }],
    keyOf(row) {
      const score = scoreIn(scores, row);
      return score === undefined ? undefined : score.toFixed(1).padStart(4, "0");
    },
    isOurs: true,
  };
}

const isCve = ({ finding_type: type }: UpstreamFinding): boolean => type.toLowerCase() === "cve";
