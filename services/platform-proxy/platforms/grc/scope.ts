import { Code, ConnectError } from "@connectrpc/connect";
import { LRUCache } from "lru-cache";
import type { Query } from "../../lib/http.js";
import { inTurns } from "../../lib/in-turns.js";
import type { Platform } from "../../platform.js";
import { chunksOf, type InFolder, queriesOf, readAllOfTenant } from "./lists.js";
import { holds } from "./search-words.js";
import { readNamed, type Tenant } from "./tenancy.js";
import type { Related } from "./upstream.js";

// An audit may cover a part of its framework: the requirements of the
// implementation groups that it has chosen. The platform keeps an assessment of
// every requirement all the same, lists them all, and leaves those outside out
// of its own figures and pages. They are left out here as well.

/** The list of audits, which tools call assessments. */
export const AUDITS = "/api/compliance-assessments/";

/** An audit as the platform shows one. */
export interface UpstreamAudit extends InFolder {
  readonly id: string;
  /** The names of the groups it has chosen; empty where it covers all. */
  readonly selected_implementation_groups?: readonly (string | { readonly value?: string })[];
  readonly framework: Related & {
    readonly implementation_groups_definition?: readonly { readonly ref_id: string; readonly name: string }[] | null;
  };
}

/** What is said of a change to a requirement that the audit does not cover. */
export const NOT_COVERED =
  "the audit does not cover this requirement, so an assessment or a score would not count: the requirement is outside the implementation groups that the audit has chosen";

/** Whether an audit covers a part of its framework only. */
const isInPart = (audit: UpstreamAudit) => (audit.selected_implementation_groups ?? []).length > 0;

/** What of a requirement assessment says whether its audit covers it. */
export interface Scoped {
  readonly id: string;
  readonly compliance_assessment: Related & {
    readonly framework?: { readonly implementation_groups_definition?: readonly unknown[] | null };
  };
}

/** Those of requirement assessments that their audits cover. */
export async function withinScope<T extends Scoped>(platform: Platform, rows: readonly T[]): Promise<T[]> {
  const mayBeOutside = ({ compliance_assessment: { framework } }: T) =>
    (framework?.implementation_groups_definition ?? []).length > 0;
  const ids = new Set(rows.filter(mayBeOutside).flatMap(({ compliance_assessment: { id } }) => id ?? []));
  const covered = new Map(await inTurns([...ids], async (id) => [id, await readCovered(platform, id)] as const));
  return rows.filter(({ id, compliance_assessment }) => covered.get(compliance_assessment.id ?? "")?.has(id) !== false);
}

/** The requirement assessments that an audit covers; undefined where it covers all. */
async function readCovered(platform: Platform, id: string): Promise<ReadonlySet<string> | undefined> {
  try {
    const audit = await platform.rest<UpstreamAudit>({ verb: "GET", path: `${AUDITS}${id}/` });
    return isInPart(audit) ? await coveredBy(platform, audit) : undefined;
  } catch (error) {
    // Who sees a requirement assessment may not see its audit.
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}

/**
 * The queries that together list the requirement assessments of a tenant, or of one audit, that the audits cover.
 *
 * @param narrowed leaves out requirements that do not hold words, since the platform's own search also looks into
 * URNs, or whose work has another status, which it has no filter for: audits are read whole for that.
 */
export async function queriesInScope(
  platform: Platform,
  query: Query,
  tenant: Tenant,
  audit: UpstreamAudit | undefined,
  narrowed: Narrowed,
): Promise<Query[]> {
  const audits = audit === undefined ? await readAudits(platform, tenant) : [audit];
  const isRead = (one: UpstreamAudit) => isNarrowed(narrowed) || isInPart(one);
  const read = audits.filter(isRead);
  if (read.length === 0 && audit === undefined) return queriesOf(query, "folder", [...tenant.domains.keys()]);
  const whole = audits.filter((one) => !isRead(one)).map(({ id }) => id);
  const parts = await inTurns(read, async (one) => {
    const covered = isNarrowed(narrowed)
      ? await readNarrowed(platform, one, narrowed)
      : [...(await coveredBy(platform, one))];
    return chunksOf(covered).map((some) => ({ ...query, compliance_assessment: one.id, id: some.join(",") }));
  });
  return [...queriesOf(query, "compliance_assessment", whole), ...parts.flat()];
}

const ID_LENGTH = 36;

/** What requirement assessments are narrowed to beside what the platform filters. */
export interface Narrowed {
  readonly words?: string | undefined;
  /** Statuses of the work, as the platform calls them; none for all. */
  readonly statuses: readonly string[];
}

/** Whether anything is left out. */
export const isNarrowed = ({ words, statuses }: Narrowed) => words !== undefined || statuses.length > 0;

/** Ids of requirement assessments by caller, audit and words, for the time in which somebody pages through them. */
const found = new LRUCache<string, readonly string[]>({
  ttl: 30_000,
  // Characters, of the words too: those are the caller's.
  maxSize: 8_000_000,
  sizeCalculation: (ids, key) => ids.length * ID_LENGTH + key.length,
});

/** The requirement assessments of an audit that it covers and that are meant. */
async function readNarrowed(platform: Platform, audit: UpstreamAudit, narrowed: Narrowed): Promise<readonly string[]> {
  const key = JSON.stringify([platform.caller.id, audit.id, audit.selected_implementation_groups, narrowed]);
  const kept = found.get(key);
  if (kept !== undefined) return kept;
  const ids = [...(await coveredBy(platform, audit, narrowed))];
  found.set(key, ids);
  return ids;
}

/** The audits of a tenant, read where they may cover a part: their rows do not say what they cover. */
async function readAudits(platform: Platform, tenant: Tenant): Promise<UpstreamAudit[]> {
  const readAudit = (id: string) => readNamed<UpstreamAudit>(platform, AUDITS, id, "assessment_id", tenant);
  const listed = await readAllOfTenant<UpstreamAudit>(platform, AUDITS, {}, tenant);
  // Of most frameworks one audit says that there are no groups, so that the others choose none.
  const firsts = new Map(listed.toReversed().map((audit) => [audit.framework?.id ?? audit.id, audit]));
  const read = new Map(await inTurns([...firsts.values()], async ({ id }) => [id, await readAudit(id)] as const));
  const isWhole = ({ id, framework }: UpstreamAudit) => {
    const first = read.get(firsts.get(framework?.id ?? id)!.id)!;
    return first.framework?.id !== undefined && (first.framework.implementation_groups_definition ?? []).length === 0;
  };
  return inTurns(listed, async (audit) => read.get(audit.id) ?? (isWhole(audit) ? audit : readAudit(audit.id)));
}

/** A requirement in the tree of an audit. */
export interface Node {
  readonly ra_id?: string | null;
  readonly assessable?: boolean;
  readonly result?: string | null;
  readonly status?: string | null;
  readonly is_scored?: boolean | null;
  readonly score?: number | null;
  readonly ref_id?: string | null;
  readonly name?: string | null;
  readonly description?: string | null;
  readonly implementation_groups?: readonly string[] | null;
  readonly children?: Tree | null;
}

type Tree = Readonly<Record<string, Node>>;

/** The requirement assessments of the groups that an audit has chosen, and of those the ones that are meant. */
export async function coveredBy(
  platform: Platform,
  audit: UpstreamAudit,
  { words, statuses }: Narrowed = { statuses: [] },
): Promise<ReadonlySet<string>> {
  const isMeant = ({ ref_id, name, description, status }: Node) =>
    (words === undefined || holds(words, [ref_id, name, description])) &&
    (statuses.length === 0 || statuses.includes(status ?? ""));
  const lines = [...linesIn(await readTree(platform, audit), audit)];
  return new Set(lines.filter(([, node]) => isMeant(node)).map(([, { ra_id }]) => ra_id));
}

/** Reads the tree of an audit: the requirements of its groups, and what they stand under. */
export function readTree(platform: Platform, audit: UpstreamAudit): Promise<Tree> {
  return platform.rest<Tree>({ verb: "GET", path: `${AUDITS}${audit.id}/tree/` });
}

/** The requirements in a tree that its audit covers, by their ids, in the order of the framework. */
export function linesIn(tree: Tree, audit: UpstreamAudit): Generator<[string, Line]> {
  const names = (audit.selected_implementation_groups ?? []).map((one) => (typeof one === "string" ? one : one.value));
  const groups = audit.framework?.implementation_groups_definition ?? [];
  const chosen = groups.filter(({ ref_id, name }) => names.includes(name) || names.includes(ref_id));
  // Who may not see the framework is not told which groups there are.
  return assessedIn(
    tree,
    ({ implementation_groups: own }) =>
      chosen.length === 0 || (own ?? []).some((group) => chosen.some(({ ref_id }) => ref_id === group)),
  );
}

/** A requirement that an audit has an assessment of. */
type Line = Node & { readonly ra_id: string };

function* assessedIn(tree: Tree, isMeant: (node: Node) => boolean): Generator<[string, Line]> {
  for (const [id, node] of Object.entries(tree)) {
    if (node.ra_id && isMeant(node)) yield [id, { ...node, ra_id: node.ra_id }];
    yield* assessedIn(node.children ?? {}, isMeant);
  }
}
