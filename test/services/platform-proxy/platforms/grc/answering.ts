import { type Answering, type Asked, startAnswering } from "../../../../support/platforms/answering.js";
import { type Exchange, readRecording } from "../../../../support/platforms/recording.js";

/** One exchange with the real platform: lists cut to four items, long texts to their beginning. */
export type Answer = Exchange;

const ANSWERS = new Map(readRecording("grc-answers").exchanges.map((exchange) => [exchange.line, exchange]));

/** The recorded answer with this number. */
export function answer(line: number): Answer {
  const found = ANSWERS.get(line);
  if (found === undefined) throw new Error(`exchange ${line} is not in grc-answers.jsonl`);
  return found;
}

/**
 * Who is calling: the recorded answer, whose long lists of rights were cut, with
 * those rights that tools look for besides.
 */
export function whoAmI(...rights: readonly string[]): Answer {
  const recorded = answer(1);
  const told = recorded.answer as { readonly domain_permissions: Readonly<Record<string, readonly string[]>> };
  const all = ["view_compliance_assessment_full", ...rights];
  const domain_permissions = Object.fromEntries(
    Object.entries(told.domain_permissions).map(([id, some]) => [id, [...some, ...all]]),
  );
  return { ...recorded, answer: { ...told, domain_permissions } };
}

const TIMES = ["created_at__gte", "created_at__lt"];

/** The filters that each list of the platform declares; it ignores every other name without a word. */
const FILTERS: Readonly<Record<string, readonly string[]>> = {
  "/api/folders/": ["content_type", "parent_folder"],
  "/api/compliance-assessments/": ["folder"],
  "/api/risk-assessments/": ["folder"],
  "/api/search/": ["q", "type"],
  "/api/frameworks/": ["provider"],
  "/api/applied-controls/": ["folder", "status", "category", "csf_function", "priority", ...TIMES],
  "/api/evidences/": ["folder", "applied_controls", "status", ...TIMES],
  "/api/requirement-assessments/": [
    "folder",
    "compliance_assessment",
    "applied_controls",
    "result",
    "requirement__assessable",
    ...TIMES,
  ],
  "/api/risk-scenarios/": ["folder", "risk_assessment", "current_level", "applied_controls", "treatment", ...TIMES],
  "/api/ebios-rm/studies/": ["folder"],
  "/api/ebios-rm/operational-scenarios/": ["ebios_rm_study"],
};
const EVERYWHERE = ["limit", "offset", "ordering", "search", "id"];

/** A platform that gives the real one's recorded answers, and nothing else. */
export interface GrcAnswering extends Answering {
  /** Asked for what nobody recorded, filtered by what the route does not know, or wrote what is no field of it. */
  readonly mistakes: readonly string[];
  /** Answers a method and path from now on; the path is that of the recorded exchange where none is given. */
  on(recorded: Answer, path?: string): void;
}

/** Starts one that has no answers yet. */
export async function startGrcAnswering(): Promise<GrcAnswering> {
  const given = new Map<string, Answer>();
  const mistakes: string[] = [];
  const answering = await startAnswering((asked) => {
    const recorded = given.get(`${asked.method} ${asked.path}`);
    const mistake = mistakeOf(asked, recorded);
    if (mistake !== undefined) mistakes.push(mistake);
    return recorded && { ...recorded, answer: rowsOf(recorded, asked.query) };
  });
  return {
    ...answering,
    mistakes,
    on(recorded, path = recorded.path) {
      given.set(`${recorded.method} ${path}`, recorded);
    },
  };
}

function mistakeOf({ method, path, query, body }: Asked, recorded: Answer | undefined): string | undefined {
  if (recorded === undefined) return `${method} ${path} was not recorded`;
  const known = [...EVERYWHERE, ...(FILTERS[path] ?? [])];
  const unknown = [...query.keys()].filter((name) => !known.includes(name));
  if (unknown.length > 0) return `${path} does not filter by ${unknown}`;
  // A write is answered in the form in which it is written.
  const fields = recorded.status < 300 && path !== EXCHANGE ? (recorded.answer as object | undefined) : undefined;
  const lost = Object.keys(body ?? {}).filter((name) => fields !== undefined && !(name in fields));
  if (lost.length > 0) return `${method} ${path} takes no ${lost}`;
  return undefined;
}

/** Where a token is exchanged for a session. */
export const EXCHANGE = "/api/_allauth/app/v1/auth/provider/token";

/** What was answered; of a list, the rows that are asked for. */
function rowsOf({ answer: whole }: Answer, query: URLSearchParams): unknown {
  const { results } = (whole ?? {}) as { results?: { id: string }[] };
  const ids = query.get("id")?.split(",");
  return results === undefined || ids === undefined
    ? whole
    : { ...(whole as object), results: results.filter(({ id }) => ids.includes(id)) };
}
