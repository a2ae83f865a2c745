import { afterAll, beforeAll, expect, test } from "vitest";
import { type AevHarness, startAev } from "../../../support/platforms/aev.js";
import { type Exchange, readRecording } from "../../../support/platforms/recording.js";
import { differences } from "../../../support/platforms/shape.js";

// The kinds of the sandbox's table are held to what the real platform answered.

const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Where the first object of a path is found, and by which member. */
const FIRST: Readonly<Record<string, string>> = {
  asset_groups: "asset_group_id",
  endpoints: "asset_id",
  findings: "finding_id",
  documents: "document_id",
  vulnerabilities: "vulnerability_id",
  attack_patterns: "attack_pattern_id",
  tags: "tag_id",
};

/** What the sandbox answers in another way, by the line of the recording. */
const DIFFERENT: Readonly<Record<number, string>> = {
  779: "the endpoint there had an agent, which reported an address, and no description",
};

let stack: AevHarness;
const standIns = new Map([[UNKNOWN, UNKNOWN]]);
const firsts = new Map<string, string>();

beforeAll(async () => {
  stack = await startAev();
  for (const [path, id] of Object.entries(FIRST)) {
    const { body } = await stack.ask("planner", "POST", `/api/${path}/search`, { size: 100 });
    const { content } = body as { content: Record<string, unknown>[] };
    // In any order, since none is asked for; the endpoint of the recording has a description, which these do not have.
    const row = content.find(({ asset_name: name }) => name !== "golden-image");
    firsts.set(path, String(row?.[id]));
    if (path === "findings") {
      const source = row?.finding_inject as { inject_id: string } | undefined;
      standIns.set("e090771e-2e5f-49b7-9801-5e35b4fea976", source?.inject_id ?? "");
    }
  }
});
afterAll(() => stack.close());

const standInOf = (id: string, { path }: Exchange): string => {
  const [, kind = ""] = /^\/api\/(\w+)/.exec(path) ?? [];
  const isMember = path.endsWith(`/${id}`) || path.includes(`/${id}/`);
  return standIns.get(id) ?? (isMember ? firsts.get(kind) : firsts.get("endpoints")) ?? id;
};

const { exchanges: recorded } = readRecording("aev-kinds");

test(`the sandbox answers ${recorded.length} recorded exchanges of simple kinds as the platform did`, async () => {
  expect(recorded.length).toBe(162);
  const wrong: string[] = [];
  for (const exchange of recorded) {
    if (DIFFERENT[exchange.line] !== undefined) continue;
    const mapped = (text: string) => text.replace(UUID, (id) => standInOf(id, exchange));
    const sent =
      exchange.body === undefined ? undefined : (JSON.parse(mapped(JSON.stringify(exchange.body))) as unknown);
    const { line, method, path, as, status, note = "" } = exchange;
    const query = new URLSearchParams(
      Object.entries(exchange.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const reply = await stack.ask(as, method, `${mapped(path)}${query.size === 0 ? "" : `?${query}`}`, sent);
    const at = `line ${line}: ${method} ${path} as ${as}, ${note}`;
    if (reply.status !== status) {
      wrong.push(`${at}: ${reply.status} instead of ${status}: ${JSON.stringify(reply.body)}`);
      continue;
    }
    const found = differences(reply.body, exchange.shape ?? "*");
    if (found.length > 0) wrong.push(`${at}: ${found.join("; ")}`);
    for (const [name, id] of exchange.made ?? [])
      standIns.set(id, String((reply.body as Record<string, string>)[name]));
  }
  expect(wrong).toEqual([]);
});
