import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cpuMicroseconds } from "../bench/servers/processes.js";
import { type Program, startProgram } from "../support/program.js";

// What nobody needs a key for: each address is asked with targets, headers and forms as long as they may be, of the kinds
// that parsers walk through more than once. What it costs is processor time, so that a busy machine changes nothing.

const MAX_MS = 250;
const LENGTH = 15_000;

const PATHS = [
  ...["/", "/mcp/cti", "/mcp/none", "/healthz", "/readyz", "/metrics", "/console/", "/console/session", "/v1/traces"],
  ...["/rpc/auth.v1.UserService/GetMe", "/api/v1/platform/register", "/nothing"],
  ...["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp/cti", "/oauth/jwks"],
  ...["/oauth/authorize", "/oauth/token", "/oauth/register", "/oauth/revoke", `/oauth/interaction/${"a".repeat(21)}`],
];
const filled = (piece: string): string => piece.repeat(LENGTH / piece.length);
const numbered = (between: string): string =>
  Array.from({ length: LENGTH / 4 }, (_, i) => i.toString(36)).join(between);
const QUERIES = [
  ...["a&", "&", "a=&", "%", "%00", "a[", "resource=x&", "a=b;", "tools=a,", "+"].map(filled),
  ...[numbered("&"), numbered("=&"), `tools=${numbered(",")}`, `client_id=a&scope=${filled("a+")}`],
];
const HEADERS: readonly (readonly [string, string])[] = [
  ...["a=b; ", "=", ";", "a=b;"].map((piece) => ["cookie", filled(piece)] as const),
  ...["a,", "a;q=0,", "*/*,", "a/b;c=d;"].flatMap((piece) =>
    ["accept", "accept-encoding", "accept-language"].map((name) => [name, filled(piece)] as const),
  ),
  ...["Bearer a.", "Basic a:", "Bearer "].map((piece) => ["authorization", filled(piece)] as const),
  ...["a,", "for=a;", "127.0.0.1,"].map((piece) => ["x-forwarded-for", filled(piece)] as const),
  ["traceparent", filled("0-")],
  ["tracestate", filled("a=b,")],
  ["origin", filled("http://")],
  ["content-type", filled("a/b;")],
];

let program: Program;

beforeAll(async () => {
  program = await startProgram();
  await atRest();
});
afterAll(() => program?.stop());

/** Of the program so far, in milliseconds. */
const spent = (): number => cpuMicroseconds(program.process.pid as number) / 1_000;

/** Waits until it does nothing: after its start it loads what nobody has asked for yet. */
async function atRest(): Promise<void> {
  for (let before = spent(); ; before = spent()) {
    await sleep(500);
    if (spent() - before < 50) return;
  }
}

interface Asked {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

function ask({ method, target, headers, body }: Asked): Promise<number | undefined> {
  return new Promise((resolve) => {
    const sent = request(`${program.baseUrl}${target}`, { method, headers, agent: false }, (answer) => {
      answer.resume().on("close", () => resolve(answer.statusCode));
    });
    // A connection that is cut off is an answer too.
    sent.on("error", () => resolve(undefined)).end(body);
  });
}

async function costOf(asked: Asked) {
  const before = spent();
  const status = await ask(asked);
  return { status, ms: spent() - before };
}

async function costAtRest(asked: Asked): Promise<number> {
  await atRest();
  return (await costOf(asked)).ms;
}

test.skipIf(process.platform !== "linux").each(PATHS)("nothing that a stranger asks %s costs much", async (path) => {
  const costly: string[] = [];
  const queries = QUERIES.map((query) => ({ what: query, method: "GET", target: `${path}?${query}`, headers: {} }));
  const others = HEADERS.map(([name, value]) => {
    const method = name.startsWith("accept") ? "GET" : "POST";
    return { what: `${name}: ${value}`, method, target: path, headers: { [name]: value } };
  });
  const forms = QUERIES.map((form) => ({
    ...{ what: `form ${form}`, method: "POST", target: path, body: form.repeat(4) },
    headers: { "content-type": "application/x-www-form-urlencoded" },
  }));
  for (const { what, ...asked } of [...queries, ...others, ...forms]) {
    const first = await costOf(asked);
    // What a request costs, it costs again; what the program does beside it is not the request's.
    const ms = first.ms > MAX_MS ? Math.min(first.ms, await costAtRest(asked)) : first.ms;
    if (ms > MAX_MS || first.status === 500)
      costly.push(`${asked.method} ${what.slice(0, 40)}: ${ms} ms, ${first.status}`);
  }
  expect(costly).toEqual([]);
});
