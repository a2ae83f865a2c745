import { afterAll, beforeAll, expect, test } from "vitest";
import { type GrcSandbox, startSandbox } from "../../../../services/sandbox/grc/server.js";
import { seededId } from "../../../../services/sandbox/grc/world.js";
import { emailOf } from "../../../support/platforms/harness.js";
import { type Claims, DISCOVERY_PATH, type Issuer, startIssuer } from "../../../support/platforms/issuer.js";
import { type Exchange, readRecording } from "../../../support/platforms/recording.js";
import { Replay } from "../../../support/platforms/replay.js";
import { TOKEN_KINDS } from "../../../support/platforms/token-kinds.js";

// Answers of the real platform for every route that the built-in platform has.
// Each is asked again here, as a user of the same kind about objects of the
// same kind, in the same order.

const { exchanges } = readRecording("grc");

const USERS: Record<string, string> = { root: "admin", analyst: "officer" };

/** Objects of the same kind. */
const IDS: Record<string, string> = {
  "7af56187-ac5f-48d5-bf96-b5f239e26f97": seededId("folder:root"),
  "33215b3a-70eb-4b55-929a-cd080d893c1d": seededId("entities:northwind:0"),
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
};

/** Lists that were empty for want of such objects, of which the built-in platform has some. */
const FILLED = new Set([131, 148]);

const CLIENT = "client";
const EXCHANGE = "/api/_allauth/app/v1/auth/provider/token";
let issuer: Issuer;
let sandbox: GrcSandbox;
let replay: Replay;

beforeAll(async () => {
  issuer = await startIssuer();
  sandbox = await startSandbox({ host: "127.0.0.1", port: 0, trust: issuer.url, clientId: CLIENT });
  replay = new Replay({
    url: sandbox.url,
    standIn: (id) => IDS[id] ?? id,
    authorize,
    headers: ({ body }) => ({ "accept-language": "en", ...(body === "<file>" && { "content-type": "text/csv" }) }),
    rewrite: (text) => text.replace("Alpha offline backups", "Northwind Offline backups"),
  });
  for (const [id, ours] of Object.entries(IDS)) replay.ids.set(id, ours);
});
afterAll(async () => {
  await sandbox.close();
  await issuer.close();
});

const personOf = (as: string) => emailOf(USERS[as] ?? as);
const isSignIn = ({ name }: Exchange) => /^(bearer|exchange): /.test(name);

/** Kinds of tokens by the words under which they were recorded. */
const KINDS: Readonly<Record<string, string>> = {
  reader: "good",
  "no account": "good",
  "e-mail in capitals": "upper-case email",
  "wrong audience": "wrong aud",
  "other issuer": "wrong iss",
  "wrong issuer": "wrong iss",
  "first use": "good",
  expired: "expired 5 s",
  "foreign key": "wrong key, known kid",
};

/** A token for the person of an exchange, of the kind that its name says. */
async function presented({ name, as }: Exchange, audience: string): Promise<string | undefined> {
  const [, what = ""] = name.split(": ");
  const make = TOKEN_KINDS[KINDS[what] ?? what];
  if (make === undefined) throw new Error(`no token of the kind "${what}"`);
  return make({ issuer, audience, email: personOf(as) });
}

/** The session that signing in gave. */
let session = "";

async function authorize(exchange: Exchange): Promise<string | undefined> {
  if (exchange.as === "anonymous" || exchange.path === EXCHANGE) return undefined;
  if (!isSignIn(exchange)) return TOKEN_KINDS.good?.({ issuer, audience: sandbox.url, email: personOf(exchange.as) });
  return exchange.name.startsWith("bearer: ") ? presented(exchange, sandbox.url) : `Token ${session}`;
}

async function differencesOf(exchange: Exchange): Promise<string[]> {
  const { differences, body } = await replay.run(exchange);
  const { count } = (exchange.answer ?? {}) as { count?: number };
  const filled = count === 0 && (body as { count?: number } | undefined)?.count !== 0 && !FILLED.has(exchange.line);
  if (exchange.path === EXCHANGE && exchange.status === 200 && session === "")
    session = (body as { meta: { access_token: string } }).meta.access_token;
  const all = filled ? [...differences, "the list is not empty"] : differences;
  return all.map((difference) => `line ${exchange.line}: ${exchange.method} ${exchange.path}: ${difference}`);
}

const plain = exchanges.filter((exchange) => !isSignIn(exchange));
const signIns = exchanges.filter(isSignIn);

test(`the built-in platform answers ${plain.length} recorded exchanges as the real one did`, async () => {
  expect(plain.length).toBe(284);
  for (const exchange of plain) expect.soft(await differencesOf(exchange)).toEqual([]);
});

test(`${signIns.length} recorded ways of signing in are taken and refused as by the real platform`, async () => {
  expect(signIns.length).toBe(24);
  let last: string | undefined;
  for (const exchange of signIns) {
    if (exchange.path !== EXCHANGE) {
      expect.soft(await differencesOf(exchange)).toEqual([]);
      continue;
    }
    if (!exchange.name.endsWith("same jti again")) last = (await presented(exchange, CLIENT))?.replace("Bearer ", "");
    const token = { client_id: CLIENT, id_token: last };
    const body = { provider: "openid_connect", process: "login", token };
    expect.soft(await differencesOf({ ...exchange, body })).toEqual([]);
  }
});

test("discovery and keys are read at every exchange, and a token issued in the future is refused", async () => {
  const before = issuer.reads(DISCOVERY_PATH);
  const now = Math.floor(Date.now() / 1000);
  const exchange = async (claims: Claims, client = CLIENT) => {
    const id_token = await issuer.sign({ aud: CLIENT, email: emailOf("reader"), ...claims });
    const reply = await fetch(`${sandbox.url}${EXCHANGE}`, {
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
  expect(issuer.reads(DISCOVERY_PATH) - before).toBe(4);
});
