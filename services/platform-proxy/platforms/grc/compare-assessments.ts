import type { MessageInitShape } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import { AssessmentResult } from "#proto/grc/v1/assessment_pb.js";
import type {
  AuditLineSchema,
  ListAssessmentDifferencesRequest,
  ListAssessmentDifferencesResponseSchema,
} from "#proto/grc/v1/assessment_service_pb.js";
import { failedPrecondition, invalidArgument } from "../../../shared/rpc/errors.js";
import { shorten } from "../../../shared/tools/shorten.js";
import { given } from "../../lib/fields.js";
import { pagingOf } from "../../lib/pages.js";
import type { Platform } from "../../platform.js";
import type { UpstreamWholeAudit } from "./assessment.js";
import { type AuditLine, readLines, shownOf } from "./audit-lines.js";
import { pageOf } from "./lists.js";
import { AUDITS } from "./scope.js";
import { readOwned, type Tenant } from "./tenancy.js";

/** A requirement in one audit or in both. */
interface Pair {
  readonly base: AuditLine | undefined;
  readonly other: AuditLine | undefined;
}

type Change = "same" | "better" | "worse" | "changed" | "onlyInBase" | "onlyInOther";

/** Characters of a requirement's text in a row. */
const TEXT = 60;
/** Results that can be compared, the worst first. */
const RANKS = [AssessmentResult.NON_COMPLIANT, AssessmentResult.PARTIALLY_COMPLIANT, AssessmentResult.COMPLIANT];

/**
 * Joins two audits by requirement.
 *
 * @throws ConnectError failed_precondition for audits of two frameworks.
 */
export async function compareAssessments(
  r: ListAssessmentDifferencesRequest,
  platform: Platform,
  tenant: Tenant,
): Promise<MessageInitShape<typeof ListAssessmentDifferencesResponseSchema>> {
  const page = pageOf(r, tenant.id);
  const read = (id: string, argument: string) => readOwned<UpstreamWholeAudit>(platform, AUDITS, id, argument, tenant);
  const base = await read(r.baseAssessmentId, "base_assessment_id");
  const other = await read(r.assessmentId, "assessment_id");
  if (base.framework.id !== other.framework.id) {
    const names = `${base.framework.str ?? "one"} and ${other.framework.str ?? "another"}`;
    throw failedPrecondition(
      `assessment_id: the audits are of two frameworks, ${names}, so their requirements differ; name two audits of one framework`,
    );
  }
  const pairs = await pairsOf(base, other, page.cursor !== undefined, platform);
  const changes = new Map(pairs.map((pair) => [pair, changeOf(pair)]));
  const countOf = (change: Change) => pairs.filter((pair) => changes.get(pair) === change).length;
  const isMeant = (pair: Pair) =>
    (r.withUnchanged === true || changes.get(pair) !== "same") &&
    (r.baseResults.length === 0 || r.baseResults.some((result) => result === pair.base?.result));
  const start = page.cursor === undefined ? 0 : startAfter(page.cursor, pairs);
  const left = pairs.slice(start).filter(isMeant);
  const rows = left.slice(0, page.size);
  const last = rows.at(-1);
  return {
    requirements: rows.map(rowOf),
    betterCount: countOf("better"),
    worseCount: countOf("worse"),
    changedCount: countOf("changed"),
    sameCount: countOf("same"),
    onlyInBaseCount: countOf("onlyInBase"),
    onlyInOtherCount: countOf("onlyInOther"),
    ...pagingOf(page, {
      totalSize: pairs.filter(isMeant).length,
      cursor: last === undefined || rows.length >= left.length ? undefined : requirementOf(last),
    }),
  };
}

const KEPT_MS = 60_000;
/** Characters of all comparisons that are kept. */
const KEPT = 20_000_000;
/** What a line takes beside its name, in characters. */
const LINE = 200;

/** Pairs by caller and audits, and by what these show, for the time in which somebody pages through them. */
const compared = new LRUCache<string, readonly Pair[]>({
  ttl: KEPT_MS,
  maxSize: KEPT,
  sizeCalculation: (pairs) => pairs.reduce((sum, { base, other }) => sum + sizeOf(base) + sizeOf(other), 1),
});

const sizeOf = (line: AuditLine | undefined) => (line === undefined ? 0 : LINE + line.name.length);

/** Joins two audits, of which the platform has all requirements or none: a page after the first keeps to what that one saw. */
async function pairsOf(base: UpstreamWholeAudit, other: UpstreamWholeAudit, isLater: boolean, platform: Platform) {
  const shown = [await shownOf(platform, base), await shownOf(platform, other)] as const;
  const key = JSON.stringify([platform.caller.id, base.id, other.id, shown]);
  const kept = isLater ? compared.get(key) : undefined;
  if (kept !== undefined) return kept;
  const pairs = joined(await readLines(platform, base, shown[0]), await readLines(platform, other, shown[1]));
  compared.set(key, pairs);
  return pairs;
}

const requirementOf = ({ base, other }: Pair) => (base ?? other)!.requirement;

/** Where the page after a requirement begins. */
function startAfter(requirement: string, pairs: readonly Pair[]): number {
  const at = pairs.findIndex((pair) => requirementOf(pair) === requirement);
  if (at < 0) throw invalidArgument("page_token: is not valid; leave it out for the first page");
  return at + 1;
}

/** The requirements of both, in the order of the framework: what only the other covers comes after what it follows there. */
function joined(base: readonly AuditLine[], other: readonly AuditLine[]): Pair[] {
  const others = new Map(other.map((line) => [line.requirement, line]));
  const known = new Set(base.map(({ requirement }) => requirement));
  const following = new Map<string, AuditLine[]>();
  let before = "";
  for (const line of other) {
    if (known.has(line.requirement)) before = line.requirement;
    else following.set(before, [...(following.get(before) ?? []), line]);
  }
  const alone = (requirement: string) =>
    (following.get(requirement) ?? []).map((line) => ({ base: undefined, other: line }));
  return [
    ...alone(""),
    ...base.flatMap((line) => [{ base: line, other: others.get(line.requirement) }, ...alone(line.requirement)]),
  ];
}

/** What has become of a requirement: by its result, and by its score where that is the same. */
function changeOf({ base, other }: Pair): Change {
  if (base === undefined) return "onlyInOther";
  if (other === undefined) return "onlyInBase";
  if (base.result === other.result) {
    if (base.score === other.score) return "same";
    if (base.score === undefined || other.score === undefined) return "changed";
    return other.score > base.score ? "better" : "worse";
  }
  const [from, to] = [base.result ?? 0, other.result ?? 0].map((result) => RANKS.indexOf(result)) as [number, number];
  if (from < 0 || to < 0) return "changed";
  return to > from ? "better" : "worse";
}

function rowOf(pair: Pair) {
  const { refId, name } = (pair.base ?? pair.other)!;
  return {
    ...given({ refId }),
    name: shorten(name, TEXT),
    ...given({ base: lineOf(pair.base), other: lineOf(pair.other) }),
  };
}

function lineOf(line: AuditLine | undefined): MessageInitShape<typeof AuditLineSchema> | undefined {
  return line && { id: line.id, ...given({ result: line.result, score: line.score }) };
}
