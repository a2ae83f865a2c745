import { afterAll, beforeAll, expect, test } from "vitest";
import { KINDS } from "../../../../services/sandbox/cti/kinds.js";
import { type CtiHarness, startCti } from "../../../support/platforms/cti.js";

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

interface Page {
  readonly list: {
    readonly edges: readonly { readonly node: { readonly id: string; readonly entity_type: string } }[];
    readonly pageInfo: { readonly globalCount: number };
  };
}

test("every kind of the table is listed, filtered, ordered and read by id, and has seeded objects", async () => {
  for (const { type, list, get } of KINDS) {
    const filters = `{mode: and, filters: [{key: ["entity_type"], values: ["${type}"]}], filterGroups: []}`;
    const page = await harness.ask<Page>(
      "admin",
      `{ list: ${list}(first: 2, orderBy: created, orderMode: desc, filters: ${filters})
         { edges { node { id entity_type } } pageInfo { globalCount } } }`,
    );
    const [first] = page.list.edges;
    expect({ list, type: first?.node.entity_type }).toEqual({ list, type });
    const one = await harness.ask<{ one: { id: string } }>("admin", `{ one: ${get}(id: "${first?.node.id}") { id } }`);
    expect({ get, id: one.one.id }).toEqual({ get, id: first?.node.id });
  }
});
