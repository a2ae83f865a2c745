import { afterAll, beforeAll, expect, test } from "vitest";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

/** Makes an observable at the platform itself; its id. */
async function observe(type: string, fields: object): Promise<string> {
  const argument = type.replaceAll("-", "");
  const mutation = `mutation ($type: String!, $fields: ${argument}AddInput) { made: stixCyberObservableAdd(type: $type, ${argument}: $fields) { id } }`;
  const { made } = await harness.ask<{ made: { id: string } }>("admin", mutation, { type, fields });
  return made.id;
}

const { listObservables, lookupIoc, searchAll } = SearchService.method;

/** The platform keeps the values of these in attributes of their own. */
const KEPT_ELSEWHERE: readonly (readonly [type: string, fields: object, value: string])[] = [
  ["Autonomous-System", { number: 64_511, name: "AS64511 of tests" }, "AS64511 of tests"],
  ["Bank-Account", { iban: "FR7630006000011234567890199" }, "FR7630006000011234567890199"],
  ["Directory", { path: "/opt/of tests" }, "/opt/of tests"],
  ["Media-Content", { url: "https://media.example/9", title: "Tested post" }, "Tested post"],
  ["Mutex", { name: "Global\\tested" }, "Global\\tested"],
  ["Payment-Card", { card_number: "4111111111111199" }, "4111111111111199"],
  ["Persona", { persona_name: "tested bob", persona_type: "social" }, "tested bob"],
  ["SSH-Key", { fingerprint_sha256: "SHA256:tested/abc" }, "SHA256:tested/abc"],
  ["User-Account", { account_login: "tested-root", user_id: "0" }, "tested-root"],
  ["Windows-Registry-Key", { attribute_key: "HKLM\\Software\\Tested" }, "HKLM\\Software\\Tested"],
];

test.each(KEPT_ELSEWHERE)("%s is found by its value, by a part of it, and looked up", async (type, fields, value) => {
  const id = await observe(type, fields);
  for (const query of [value, value.toUpperCase(), value.slice(1, -1), `${value.slice(0, 3)}*`]) {
    const listed = await harness.call(listObservables, { query, types: [type] });
    expect([query, listed.observables.map((one) => one.id)]).toEqual([query, [id]]);
  }
  const everywhere = await harness.call(searchAll, { query: value, pageSize: 100 });
  expect(everywhere.objects.map((one) => one.id)).toContain(id);
  const { known, matches } = await harness.call(lookupIoc, { value });
  expect([known, matches.map((one) => one.id)]).toEqual([true, [id]]);
});

test.each([
  ["Network-Traffic", { src_port: 40_123, protocols: ["tcp"] }, "40123"],
  ["Process", { pid: 5_123, command_line: "tested --now" }, "5123"],
])("%s is found by its number", async (type, fields, query) => {
  const id = await observe(type, fields);
  const listed = await harness.call(listObservables, { query, types: [type] });
  expect(listed.observables.map((one) => one.id)).toEqual([id]);
});
