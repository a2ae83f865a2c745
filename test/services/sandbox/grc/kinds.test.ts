import { afterAll, beforeAll, expect, test } from "vitest";
import { PLAIN_KINDS } from "../../../../services/sandbox/grc/kinds/table.js";
import { type GrcSandbox, startSandbox } from "../../../../services/sandbox/grc/server.js";
import { seededId } from "../../../../services/sandbox/grc/world.js";
import { type Issuer, startIssuer } from "../../../support/platforms/issuer.js";

let issuer: Issuer;
let sandbox: GrcSandbox;
beforeAll(async () => {
  issuer = await startIssuer();
  sandbox = await startSandbox({ host: "127.0.0.1", port: 0, trust: issuer.url });
});
afterAll(async () => {
  await sandbox.close();
  await issuer.close();
});

async function ask(
  as: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; json: unknown }> {
  const token = await issuer.sign({ aud: sandbox.url, sub: as, email: `${as}@sallyport.example` });
  const reply = await fetch(`${sandbox.url}/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, json: text === "" ? undefined : JSON.parse(text) };
}

interface Page {
  readonly count: number;
  readonly results: readonly { readonly id: string; readonly folder: { readonly id: string } }[];
}

test("every kind of the table is listed by folder and read by id, by those who may see the folder", async () => {
  const folder = seededId("folder:northwind");
  for (const { path } of PLAIN_KINDS) {
    const of = async (as: string, query: string) => (await ask(as, "GET", `${path}/${query}`)).json;
    const page = (await of("reader", `?folder=${folder}&limit=1&ordering=-created_at`)) as Page;
    expect({ path, folder: page.results[0]?.folder.id }).toEqual({ path, folder });
    const id = page.results[0]?.id;
    expect({ ...((await of("reader", `${id}/`)) as object), at: path }).toMatchObject({ at: path, id });
    expect({ ...((await of("outsider", "?limit=1")) as object), at: path }).toMatchObject({ at: path, count: 0 });
  }
});

test("a kind of the table is written by those who may, and by nobody else", async () => {
  const body = { name: "Courier", folder: seededId("folder:northwind") };
  const refused = await ask("reader", "POST", "entities/", body);
  expect(refused.status).toBe(403);
  const made = await ask("officer", "POST", "entities/", body);
  expect(made.status).toBe(201);
  const { id } = made.json as { id: string };
  const changed = await ask("officer", "PATCH", `entities/${id}/`, { mission: "Carries post" });
  expect(changed).toMatchObject({ status: 200, json: { mission: "Carries post" } });
  expect((await ask("officer", "DELETE", `entities/${id}/`)).status).toBe(204);
});
