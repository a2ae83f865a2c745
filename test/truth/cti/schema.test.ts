import { buildClientSchema, buildSchema, getIntrospectionQuery, type IntrospectionQuery } from "graphql";
import { expect, test } from "vitest";
import { SDL } from "../../../services/sandbox/cti/sdl.js";
import { documents } from "../../services/platform-proxy/platforms/cti/binding-documents.js";
import { differencesOf } from "../../services/platform-proxy/platforms/cti/schema-differences.js";
import { titled } from "../../support/titled.js";

const { CTI_REAL_URL, CTI_REAL_TOKEN } = process.env;
const named = CTI_REAL_URL !== undefined && CTI_REAL_TOKEN !== undefined;

test.skipIf(!named)(
  titled(
    "every document means to the real platform what it means here",
    named ? undefined : "CTI_REAL_URL and CTI_REAL_TOKEN are not set",
  ),
  { timeout: 120_000 },
  async () => {
    const reply = await fetch(new URL("graphql", `${CTI_REAL_URL}/`), {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${CTI_REAL_TOKEN}` },
      body: JSON.stringify({ query: getIntrospectionQuery() }),
    });
    const { data } = (await reply.json()) as { data: IntrospectionQuery };
    const [ours, theirs] = [buildSchema(SDL), buildClientSchema(data)];
    const differences = documents.map(([name, text]) => [name, differencesOf(text, ours, theirs)]);
    expect(differences.filter(([, found]) => found?.length)).toEqual([]);
  },
);
