import { readFileSync } from "node:fs";
import type { JWTPayload } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GrcSandbox, startSandbox } from "../../../../services/sandbox/grc/server.js";
import { seededId } from "../../../../services/sandbox/grc/world.js";
import { type Issuer, startIssuer } from "../../platform-proxy/platforms/grc/issuer.js";
import { differencesOf } from "./shape.js";

// Answers of the real platform, one exchange a line, lists cut to one item and
// long texts to their beginning, for every route that the built-in platform
// has. Each is asked again here, as a user of the same kind about objects of
// the same kind, in the same order.

interface Recorded {
  readonly line: number;
  readonly as: string;
  readonly method: string;
  readonly path: string;
  readonly query?: Record<string, string | string[]>;
  readonly body?: unknown;
  readonly case?: string;
  readonly status: number;
  readonly response: unknown;
}

const RECORDED = readFileSync(new URL("recorded.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded);

const USERS: Record<string, string> = { root: "admin", analyst: "officer" };

/** Objects of the same kind. */
const IDS: Record<string, string> = {
  "7af56187-ac5f-48d5-bf96-b5f239e26f97": seededId("folder:root"),
  "e0efa041-6f85-4711-873c-7efa94ddc1d0": seededId("folder:northwind"),
  "8d3dab2c-e02e-4958-9dd0-c976e04ba786": seededId("folder:northwind-grid"),
  "228a9c94-7d3e-42ab-a564-5c55bdb79d18": seededId("folder:baltic"),
  "245b004f-bc82-40d1-9967-2f9fcbde3ffc": seededId("frameworks:nist-csf-2.0"),
  "cef1b313-3602-4232-99a2-e0efcc68813b": seededId("frameworks:iso27001-2022"),
  "f847acaf-2259-49b9-b96e-35d07c8d73a7": seededId("requirement-nodes:NIST-CSF-2.0:GV.OC-01"),
  "4fe18abd-e314-4b1d-819b-28c2472b03da": seededId("applied-controls:northwind:0"),
  "51649273-8639-4f81-9ba4-85d5f5f04211": seededId("applied-controls:northwind:1"),
  "52a7b179-8791-4a0e-b7d7-099e4e77b0bf": seededId("applied-controls:baltic:0"),
  "90425c20-9992-44eb-b364-81be5a3668df": seededId("user:officer"),
  "1eeb069f-1c63-4773-a496-58c53372cfc5": seededId("evidences:northwind:0"),
  "4fce7dc5-db4a-4c33-864c-821012ec81b9": seededId("evidences:baltic:0"),
  "49321384-c6ea-4e57-afcc-356d549ae632": seededId("compliance-assessments:northwind:csf"),
  "72df9d7e-61c2-4c27-a3db-38476a5e49d9": seededId("perimeters:northwind"),
  "7aebd23b-0051-49ac-8596-49d25bb0c0ff": seededId("perimeters:baltic"),
  "bb6ccd0e-301f-4a82-8a10-7059125eddd9": seededId("requirement-assessments:northwind:csf:GV.OC-01"),
  "e5ed7677-ffe4-4492-b627-f0a4d6a07278": seededId("requirement-assessments:northwind:csf:GV.OC-02"),
  "d1b30d4f-c349-44e0-9bb9-e6a868a437ad": seededId("risk-matrices:5x5"),
  "d24ee464-5955-4844-91ac-56271f069af0": seededId("risk-assessments:northwind:0"),
  "02f3db63-eae1-43b7-ac37-5d82e953e2a3": seededId("risk-assessments:baltic:0"),
  "0166795f-9530-4162-8652-11ae7f4831d8": seededId("risk-scenarios:northwind:0:0"),
  "045382b9-8a81-47a8-aa41-2188a315a197": seededId("assets:northwind:0"),
  "a1d3f709-a066-4561-ba5f-5bc2700ea485": seededId("assets:northwind:1"),
  "4541cd85-d86a-43e4-95d6-204209128869": seededId("assets:baltic:0"),
  "1ff016f8-6760-4030-9e57-bef288b01a34": seededId("ebios-rm/operational-scenarios:northwind:0:0"),
  "08cef7ff-aea9-4743-82bf-f2cf2bc255e8": seededId("security-advisories:CVE-2021-44228"),
  "33215b3a-70eb-4b55-929a-cd080d893c1d": seededId("entities:northwind:0"),
};

/** Lists that were empty for want of such objects, of which the built-in platform has some. */
const FILLED = new Set([131, 148]);

let issuer: Issuer;
let sandbox: GrcSandbox;
const CLIENT = "client";
const ids = { ...IDS };

beforeAll(async () => {
  issuer = await startIssuer();
  sandbox = await startSandbox({ host: "127.0.0.1", port: 0, trust: issuer.url, clientId: CLIENT });
});
afterAll(async () => {
  await sandbox.close();
  await issuer.close();
});

const mapped = (text: string) =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => ids[id] ?? id)
    .replace("Alpha offline backups", "Northwind Offline backups");

const emailOf = (as: string) => `${USERS[as] ?? as}@sallyport.example`;
const bearer = (as: string, claims: JWTPayload = {}, key?: "own" | "foreign") =>
  issuer.sign({ aud: sandbox.url, sub: as, email: emailOf(as), ...claims }, key);

function send(recorded: Recorded, authorization: string | undefined, body: string | undefined): Promise<Response> {
  const url = new URL(`${sandbox.url}${mapped(recorded.path)}`);
  for (const [name, value] of Object.entries(recorded.query ?? {})) {
    for (const one of [value].flat()) url.searchParams.append(name, mapped(one));
  }
  return fetch(url, {
    method: recorded.method,
    redirect: "manual",
    headers: {
      "accept-language": "en",
      ...(authorization !== undefined && { authorization }),
      ...(body !== undefined && { "content-type": recorded.body === "<file>" ? "text/csv" : "application/json" }),
    },
    ...(body !== undefined && { body }),
  });
}

async function compare(recorded: Recorded, reply: Response): Promise<void> {
  const text = await reply.text();
  const at = `line ${recorded.line}: ${recorded.method} ${recorded.path}`;
  expect.soft({ at, status: reply.status, text: reply.status === recorded.status ? "" : text }).toEqual({
    at,
    status: recorded.status,
    text: "",
  });
  const { response } = recorded;
  const type = reply.headers.get("content-type") ?? "";
  if (recorded.status === 301) return void expect.soft(reply.headers.get("location")).toBe(recorded.path.concat("/"));
  if (typeof response === "object" && response !== null && "content-type" in response) {
    return void expect.soft(type).toBe(response["content-type"]);
  }
  if (response === "" || response === null) return void expect.soft(text).toBe("");
  if (reply.status !== recorded.status) return;
  const actual: unknown = JSON.parse(text);
  expect.soft({ at, differences: differencesOf(response, actual) }).toEqual({ at, differences: [] });
  const { count } = response as { count?: number };
  if (count === 0 && !FILLED.has(recorded.line))
    expect.soft({ at, ...(actual as object) }).toMatchObject({ at, count: 0 });
  remember(recorded, response, actual);
}

/** What was created, and what is first in a list, is asked for again by later lines. */
function remember(recorded: Recorded, response: unknown, actual: unknown): void {
  const of = (reply: unknown) => {
    const { id, results } = reply as { id?: string; results?: { id?: string }[] };
    return recorded.status === 201 ? id : results?.[0]?.id;
  };
  const [was, is] = [of(response), of(actual)];
  if (was !== undefined && is !== undefined) ids[was] ??= is;
}

const plain = RECORDED.filter((recorded) => recorded.case === undefined);
const cases = RECORDED.filter((recorded) => recorded.case !== undefined);

test(`the built-in platform answers ${plain.length} recorded exchanges as the real one did`, async () => {
  expect(plain.length).toBe(284);
  for (const recorded of plain) {
    const authorization = recorded.as === "anonymous" ? undefined : `Bearer ${await bearer(recorded.as)}`;
    const { body } = recorded;
    const sent = body === undefined ? undefined : typeof body === "string" ? body : mapped(JSON.stringify(body));
    await compare(recorded, await send(recorded, authorization, sent));
  }
}, 60_000);

/** What each case of signing in presents. */
const PRESENTED: Record<string, () => Promise<string>> = {
  reader: () => bearer("reader"),
  "e-mail in capitals": () => bearer("reader", { email: emailOf("reader").toUpperCase() }),
  "no account": () => bearer("nobody"),
  "wrong audience": () => bearer("reader", { aud: "https://elsewhere.example" }),
  "wrong issuer": () => bearer("reader", { aud: CLIENT, iss: "https://elsewhere.example" }),
  "other issuer": () => bearer("reader", { iss: "https://elsewhere.example" }),
  expired: () => bearer("reader", { exp: Math.floor(Date.now() / 1000) - 5 }),
  "no exp": () => without("exp"),
  "no email": () => without("email"),
  "no jti": () => without("jti"),
  "foreign key": () => bearer("reader", {}, "foreign"),
  "unknown kid": async () => reheaded({ alg: "EdDSA", typ: "JWT", kid: "unknown" }),
  "alg none": async () => reheaded({ alg: "none", typ: "JWT" }),
  HS256: async () => reheaded({ alg: "HS256", typ: "JWT", kid: "one" }),
};

const without = (claim: string) => bearer("reader", { [claim]: undefined });

async function reheaded(header: object): Promise<string> {
  const [, payload, signature] = (await bearer("reader")).split(".");
  return [Buffer.from(JSON.stringify(header)).toString("base64url"), payload, signature].join(".");
}

test(`${cases.length} recorded ways of signing in are taken and refused as by the real platform`, async () => {
  let key = "";
  let last = "";
  for (const recorded of cases) {
    const [way, what = ""] = recorded.case!.split(": ");
    if (way === "bearer") {
      await compare(recorded, await send(recorded, `Bearer ${await PRESENTED[what]!()}`, undefined));
    } else if (recorded.path.endsWith("/provider/token")) {
      const email = emailOf(what === "no account" ? "nobody" : "reader");
      const claims: JWTPayload = { aud: CLIENT, email };
      if (what === "wrong audience") claims.aud = "https://elsewhere.example";
      if (what === "wrong issuer") claims.iss = "https://elsewhere.example";
      if (what === "expired") claims.exp = Math.floor(Date.now() / 1000) - 5;
      if (what !== "same jti again") last = await bearer("reader", claims, what === "foreign key" ? "foreign" : "own");
      const token = { client_id: CLIENT, id_token: last };
      const body = JSON.stringify({ provider: "openid_connect", process: "login", token });
      const reply = await send(recorded, undefined, body);
      const copy = reply.clone();
      await compare(recorded, reply);
      if (reply.status === 200 && key === "") {
        key = ((await copy.json()) as { meta: { access_token: string } }).meta.access_token;
      }
    } else {
      await compare(recorded, await send(recorded, `Token ${key}`, recorded.method === "POST" ? "" : undefined));
    }
  }
}, 60_000);

test("discovery and keys are read at every exchange, and a token issued in the future is refused", async () => {
  const document = "/xtm/.well-known/openid-configuration";
  const before = issuer.reads[document] ?? 0;
  const now = Math.floor(Date.now() / 1000);
  const exchange = async (claims: JWTPayload | { sub: undefined }, client = CLIENT) => {
    const id_token = await bearer("reader", { aud: CLIENT, ...(claims as JWTPayload) });
    const reply = await fetch(`${sandbox.url}/api/_allauth/app/v1/auth/provider/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ provider: "openid_connect", process: "login", token: { client_id: client, id_token } }),
    });
    return reply.status;
  };
  expect(await exchange({})).toBe(200);
  expect(await exchange({ iat: now + 3, exp: now + 60 })).toBe(400);
  expect(await exchange({ sub: undefined })).toBe(500);
  expect(await exchange({}, "another")).toBe(500);
  expect(await exchange({ email: emailOf("leaver") })).toBe(401);
  expect((issuer.reads[document] ?? 0) - before).toBe(4);
});
