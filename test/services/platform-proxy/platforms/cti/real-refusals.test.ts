import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { startCtiAt } from "../../../../support/platforms/cti.js";
import type { Harness } from "../../../../support/platforms/harness.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { type CtiAnswering, REFUSALS, startCtiAnswering } from "./answering.js";

let platform: CtiAnswering;
let harness: Harness;
beforeAll(async () => {
  platform = await startCtiAnswering();
  harness = await startCtiAt(platform.url);
});
afterAll(async () => {
  await harness.close();
  await platform.close();
});

/** What the real platform refused, by the code that a tool answers with then. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  Aborted: ["restored"],
  FailedPrecondition: [
    "create without reference",
    "edit without reference",
    "interval nonsense",
    "merge of an unknown",
    "merge with itself",
    "promote a malware",
    "renamed onto another",
    "type without its argument",
    "unknown draft named",
    "unknown observable type",
    "unknown pattern type",
  ],
  InvalidArgument: [
    "StixRef nonsense",
    "author that is no identity",
    "bad IPv4",
    "bad STIX pattern",
    "bad date",
    "bad hash",
    "bad number",
    "bad pattern",
    "bad yara",
    "blank name",
    "field to patch set by the platform",
    "missing required variable",
    "no filterGroups",
    "operator script",
    "ordering by author",
    "relationsAdd a label by its value",
    "relationship of a kind not allowed",
    "relationship of an unknown kind",
    'relationship_type ["loves"]',
    "score 101",
    "several values for one",
    "unknown field to patch",
    "unknown key",
    "within dates",
    "within one value",
    "wrong variable type",
  ],
  NotFound: [
    "edit with an unknown reference",
    "fieldPatch objectLabel",
    "hidden id deleted",
    "indicatorFieldPatch on a malware",
    "introspection",
    "report with unknown labels, retry-number 1",
    "stixCoreObjectEdit on an unknown id",
  ],
  PermissionDenied: [
    "DeleteSighting",
    "SearchKnowledge",
    "marking the caller lacks",
    "name of an object hidden from the caller",
    "no token",
    "relationAdd unknown marking",
  ],
  Unavailable: [
    "GET /graphql?query",
    "body of 60 MB",
    "bogus cursor",
    "container add of an unknown object",
    "gt nonsense date",
  ],
  Unimplemented: [
    "POST as text/plain",
    "a JSON array of requests",
    "bare date as DateTime",
    "no query",
    "observables ordered by x_opencti_score",
    "syntax error",
    "three aliases of one query field",
    "two aliases of one mutation field",
    "unknown enum value",
    "unknown field",
  ],
};

const codeOf = (name: string) => Object.keys(REFUSED).find((code) => REFUSED[code]?.includes(name));

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

test.each(REFUSALS)("the refusal of %s is told in words of ours", async (name, real) => {
  platform.script([]);
  platform.refuse(real);
  const { code, rawMessage } = await refusal(harness.call(EntityService.method.getEntity, { objectId: "an-id" }));
  expect(Code[code]).toBe(codeOf(name));
  expect(rawMessage).not.toMatch(UUID);
  const { errors = [] } = (real.answer ?? {}) as { errors?: { message: string }[] };
  for (const { message } of errors) expect(rawMessage).not.toContain(message);
});
