import { afterAll, beforeAll, expect, test } from "vitest";
import { type GrcSandbox, startSandbox } from "../../../../services/sandbox/grc/server.js";
import { seededId } from "../../../../services/sandbox/grc/world.js";
import { emailOf } from "../../../support/platforms/harness.js";
import { type Issuer, startIssuer } from "../../../support/platforms/issuer.js";
import { type Exchange, type IdFacts, readRecording } from "../../../support/platforms/recording.js";
import { Replay } from "../../../support/platforms/replay.js";

// What the tools asked of the real platform during the truth run (test/truth/grc),
// as ten people, asked again of the built-in one: it answers alike, or is named here.

// The first 23 tools, and those that came after them.
const recordings = ["grc-truth", "grc-truth-more"].map(readRecording);
const exchanges = recordings.flatMap((one) => one.exchanges);
const ids = Object.assign({}, ...recordings.map(({ header }) => header.ids)) as Readonly<Record<string, IdFacts>>;

/** Accounts of the same rights. */
const USERS: Readonly<Record<string, string>> = {
  administrator: "admin",
  analyst: "officer",
  granted: "branch",
  both: "consultant",
  respondent: "supplier",
};

/** At least so many of a hundred answer alike, by their whole shapes. */
const WANTED = 0.95;

const LINKED = "one of the rows that this person saw had a control in a domain of theirs, and none of ours has";

const ONE_PART = "the part of a framework is audited at the supplier here, and at a place of its own there";

const CLOSED = "the run asked it of an audit that closes controls to who answers it";
const UNRATED = "what the run made there is rated at one stage, and what stands for it here at all";

/** What does not, by what was asked, and why. */
const OTHERWISE: ReadonlyMap<string, string> = new Map([
  ["granted GET evidences: 200", LINKED],
  ["granted GET requirement-assessments: 200", LINKED],
  ["respondent GET compliance-assessments/part: 404", ONE_PART],
  ["respondent GET requirement-assessments/partInside: 404", ONE_PART],
  ["analyst GET requirement-assessments/another: 200", CLOSED],
  ["administrator GET risk-scenarios/another: 200", UNRATED],
  ["analyst GET risk-scenarios/another: 200", UNRATED],
]);

/** Where the truth run puts what it numbers: the tenant's own domain, two inside it, and another tenant. */
const place = (i: number) => (i % 4 === 3 ? "baltic" : "northwind");

/** The risks that the truth run rates. */
const RATED = [0, 1, 8, 10, 11];

function riskOf(i: number): string {
  if (RATED.includes(i)) return `${place(i)}:${i % 4 === 1 ? 2 : 0}:${i}`;
  return i % 4 === 3 ? "baltic:project:0" : `northwind:project:${i % 2}`;
}

/** Objects of the same kind, by the names that the truth run gives its own (test/truth/grc/world.ts). */
const SAME: readonly (readonly [RegExp, (i: number) => string])[] = [
  [/^root$/, () => "folder:root"],
  [/^alpha$/, () => "folder:northwind"],
  [/^beta$/, () => "folder:baltic"],
  [/^east$/, () => "folder:northwind-grid"],
  [/^shop$/, () => "folder:northwind-retail"],
  [/^enclave$/, () => "folder:northwind-supplier"],
  [/^plain$/, () => "frameworks:iso27001-2022"],
  [/^grouped$/, () => "frameworks:iso27001-2022"],
  [/^control(\d+)$/, (i) => `applied-controls:${place(i)}:${i}`],
  [/^rootControl$/, () => "applied-controls:shared"],
  [/^evidence(\d+)$/, (i) => `evidences:${place(i)}:${i === 1 ? 5 : i}`],
  [/^rootEvidence$/, () => "evidences:shared"],
  [/^hidden$/, () => "compliance-assessments:northwind:csf"],
  [/^shown$/, () => "compliance-assessments:northwind:iso"],
  [/^(?:part|supplierAudit)$/, () => "compliance-assessments:northwind:supplier"],
  [/^other$/, () => "compliance-assessments:baltic:csf"],
  // The first and the third are the auditee's.
  [/^hidden(\d+)$/, (i) => `requirement-assessments:northwind:csf:GV.OC-0${[1, 3, 2, 4][i]}`],
  [/^shown(\d+)$/, (i) => `requirement-assessments:northwind:iso:4.${i + 1}`],
  [/^other(\d+)$/, (i) => `requirement-assessments:baltic:csf:GV.OC-0${i + 1}`],
  [/^part(?:\d+|Inside|Outside)$/, () => "requirement-assessments:northwind:supplier:4.3"],
  [/^supplier(\d+)$/, (i) => `requirement-assessments:northwind:supplier:4.${i + 1}`],
  [/^within$/, () => "risk-assessments:northwind:0"],
  [/^without$/, () => "risk-assessments:northwind:1"],
  [/^eastern$/, () => "risk-assessments:northwind:project"],
  [/^foreign$/, () => "risk-assessments:baltic:0"],
  [/^risk(\d+)$/, (i) => `risk-scenarios:${riskOf(i)}`],
  [/^rootRisk$/, () => "risk-scenarios:shared:0"],
  [/^studyA$/, () => "ebios-rm/studies:northwind:0"],
  [/^studyB$/, () => "ebios-rm/studies:northwind:1"],
  [/^studyC$/, () => "ebios-rm/studies:baltic:0"],
  [/^attack(\d+)$/, (i) => `ebios-rm/operational-scenarios:${["northwind:0", "northwind:1", "baltic:0"][i % 3]}:${i}`],
  [/^attackLinked$/, () => "ebios-rm/operational-scenarios:northwind:1:9"],
  // The second lies in a domain of its own, and is carried by the seventh, of another one.
  [/^asset(\d+)$/, (i) => `assets:${place(i)}:${({ 1: "room", 6: "till" })[i] ?? i}`],
  [/^entity$/, () => "entities:northwind:0"],
  [/^betaEntity$/, () => "entities:baltic:0"],
  [/^loss$/, () => "crq/quantitative-risk-studies:northwind:0"],
  [/^lossEmpty$/, () => "crq/quantitative-risk-studies:northwind:1"],
  [/^lossOther$/, () => "crq/quantitative-risk-studies:baltic:0"],
  [/^analystActor$/, () => "actor:officer"],
];

/** What stands for objects that the run did not name, by the list, filter or field that holds them. */
const ANOTHER: Readonly<Record<string, string>> = {
  administrator: "applied-controls:northwind:8",
  analyst: "applied-controls:northwind:9",
  auditee: "applied-controls:northwind:10",
  both: "applied-controls:northwind:12",
  "applied-controls": "applied-controls:northwind:7",
  applied_controls: "applied-controls:northwind:7",
  "compliance-assessments": "compliance-assessments:northwind:iso",
  compliance_assessment: "compliance-assessments:northwind:iso",
  ebios_rm_study: "ebios-rm/studies:northwind:0",
  evidence: "evidences:northwind:5",
  evidences: "evidences:northwind:5",
  // A file for a version goes to the latest of its evidence.
  "evidence-revisions": "evidences:northwind:5",
  folder: "folder:northwind-grid",
  frameworks: "frameworks:iso27001-2022",
  "reference-controls": "reference-controls:CTL.01",
  reference_control: "reference-controls:CTL.01",
  "requirement-assessments": "requirement-assessments:northwind:csf:GV.OC-03",
  "requirement-nodes": "requirement-nodes:NIST-CSF-2.0:GV.OC-03",
  "risk-scenarios": "risk-scenarios:northwind:0:2",
  risk_assessment: "risk-assessments:northwind:0",
};

let issuer: Issuer;
let sandbox: GrcSandbox;

/** Evidence that is made with a file, by the name that the run gives its own, with where it lies. */
const FILES = { shopFile: "northwind-retail", betaFile: "baltic", enclaveFile: "northwind-supplier" } as const;
/** Their ids. */
const made = new Map<string, string>();
/** Whose evidence it is where they write some. */
const WRITTEN: Readonly<Record<string, string>> = { manager: "betaFile", respondent: "enclaveFile" };
const FILED = ["evidence", "evidences", "evidence-revisions"];
const FILE = { "content-disposition": "attachment; filename*=UTF-8''notes.txt" };

async function asAdmin(path: string, headers: Readonly<Record<string, string>>, body: string): Promise<Response> {
  const authorization = `Bearer ${await issuer.sign({ aud: sandbox.url, email: emailOf("admin") })}`;
  return fetch(`${sandbox.url}${path}`, { method: "POST", headers: { ...headers, authorization }, body });
}

beforeAll(async () => {
  issuer = await startIssuer();
  sandbox = await startSandbox({ host: "127.0.0.1", port: 0, trust: issuer.url });
  for (const [name, folder] of Object.entries(FILES)) {
    const body = JSON.stringify({ name, folder: seededId(`folder:${folder}`) });
    const { id } = (await (await asAdmin("/api/evidences/", { "content-type": "application/json" }, body)).json()) as {
      id: string;
    };
    made.set(name, id);
  }
  // Empty, since no recording keeps what a file holds.
  for (const id of [...made.values(), seededId("evidences:northwind:5")]) {
    await asAdmin(`/api/evidences/${id}/upload/`, FILE, "");
  }
});
afterAll(async () => {
  await sandbox.close();
  await issuer.close();
});

function standInOf(id: string): string {
  const key = ids[id]?.type ?? "";
  const file = made.get(key);
  if (file !== undefined) return file;
  for (const [pattern, seeded] of SAME) {
    const found = pattern.exec(key);
    if (found !== null) return seededId(seeded(Number(found[1] ?? 0)));
  }
  return id;
}

const NAMELESS = Object.entries(ids).find(([, { type }]) => type === "another")?.[0] ?? "";

/** What holds an id that says which, with the object that stands for it there. */
function placed<T>(value: T, where: string | undefined, as: string): T {
  const own = FILED.includes(where ?? "") ? made.get(WRITTEN[as] ?? "") : undefined;
  const another = ANOTHER[where ?? ""];
  if (value === undefined || another === undefined) return value;
  return JSON.parse(JSON.stringify(value).replaceAll(NAMELESS, own ?? seededId(another))) as T;
}

const placedIn = <T extends object>(values: T, list: string | undefined, as: string): T =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, placed(value, name === "id" ? list : name, as)]),
  ) as T;

/** An exchange about objects that are there; what was asked for in vain stays. */
function aboutOurs(exchange: Exchange): Exchange {
  const { path, query, body, status, as } = exchange;
  if (status > 400 && status !== 403) return exchange;
  const kind = path.split("/")[2];
  // A control that is deleted is another one's each time.
  const list = exchange.method === "DELETE" && kind === "applied-controls" ? as : kind;
  return {
    ...exchange,
    path: placed(path, list, as),
    ...(query !== undefined && { query: placedIn(query, list, as) }),
    ...(typeof body === "object" && body !== null && { body: placedIn(body, list, as) }),
  };
}

/** Who asked for what, with the names of objects for their ids, and what the status was. */
function askedIn({ as, method, path, status }: Exchange): string {
  const named = path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => ids[id]?.type ?? id);
  return `${as} ${method} ${named.slice("/api/".length, -1)}: ${status}`;
}

/** Each exchange by itself: what tools wrote before changes what the next one meets. */
async function differencesOf(exchange: Exchange): Promise<readonly string[]> {
  const email = emailOf(USERS[exchange.as] ?? exchange.as);
  const replay = new Replay({
    url: sandbox.url,
    standIn: standInOf,
    authorize: async () => `Bearer ${await issuer.sign({ aud: sandbox.url, email })}`,
    headers: () => ({ "accept-language": "en", ...(exchange.path.endsWith("/upload/") && FILE) }),
  });
  return (await replay.run(aboutOurs(exchange))).differences;
}

test(`the built-in platform answers ${exchanges.length} exchanges of the truth run as the real one did`, async () => {
  const unlike = new Map<string, string>();
  for (const [at, exchange] of exchanges.entries()) {
    const differences = await differencesOf(exchange);
    if (differences.length === 0) continue;
    const asked = askedIn(exchange);
    unlike.set(`${at} ${asked}`, `line ${exchange.line}: ${asked}: ${differences.slice(0, 2).join("; ")}`);
  }
  const isTold = (key: string) => OTHERWISE.has(key.replace(/^\d+ /, ""));
  expect([...unlike].flatMap(([key, what]) => (isTold(key) ? [] : [what]))).toEqual([]);
  expect([...OTHERWISE.keys()].filter((asked) => ![...unlike.keys()].some((key) => key.endsWith(asked)))).toEqual([]);
  expect(1 - unlike.size / exchanges.length).toBeGreaterThanOrEqual(WANTED);
});
