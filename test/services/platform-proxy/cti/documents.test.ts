import { buildSchema, Kind, parse, validate, validateSchema } from "graphql";
import { expect, test } from "vitest";
import * as opencti from "../../../../services/platform-proxy/adapters/opencti.js";
import { ctiBindings } from "../../../../services/platform-proxy/bindings/cti/all.js";
import * as annotation from "../../../../services/platform-proxy/bindings/cti/annotation-service.js";
import * as container from "../../../../services/platform-proxy/bindings/cti/container-service.js";
import * as entity from "../../../../services/platform-proxy/bindings/cti/entity-service.js";
import { CREATABLE_TYPES } from "../../../../services/platform-proxy/bindings/cti/entity-types.js";
import * as insight from "../../../../services/platform-proxy/bindings/cti/insight-service.js";
import * as observable from "../../../../services/platform-proxy/bindings/cti/observable-service.js";
import * as relationship from "../../../../services/platform-proxy/bindings/cti/relationship-service.js";
import * as resolve from "../../../../services/platform-proxy/bindings/cti/resolve.js";
import * as search from "../../../../services/platform-proxy/bindings/cti/search-service.js";
import * as writes from "../../../../services/platform-proxy/bindings/cti/writes.js";
import { SDL } from "../../../../services/platform-proxy/sandbox/cti/sdl.js";
import { readImage } from "../../../../services/shared/api/image.js";
import { readTools } from "../../../../services/shared/api/tools.js";
import { readRecording } from "./replay.js";

const schema = buildSchema(SDL);

const documents: [name: string, document: string][] = [
  opencti,
  annotation,
  container,
  entity,
  insight,
  observable,
  relationship,
  resolve,
  search,
  writes,
]
  .flatMap((module) => Object.entries(module as Record<string, unknown>))
  .filter((entry): entry is [string, string] => typeof entry[1] === "string" && /^(query|mutation) /.test(entry[1]));
for (const [type, creatable] of CREATABLE_TYPES) documents.push([`create ${type}`, entity.createDocumentOf(creatable)]);
for (const kind of Object.values(observable.OBSERVABLE_KINDS))
  documents.push([`create ${kind.type}`, observable.createDocumentOf(kind)]);

test("the sandbox's schema is valid", () => {
  expect(validateSchema(schema)).toEqual([]);
});

test("every document of the bindings is found", () => {
  expect(documents.length).toBeGreaterThan(60);
});

test.each(documents)("the document %s is valid against the schema", (_, document) => {
  expect(validate(schema, parse(document)).map(({ message }) => message)).toEqual([]);
});

test.each(documents)("the document %s asks for no mutation twice and for no query more than twice", (_, document) => {
  for (const definition of parse(document).definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const fields = definition.selectionSet.selections.map((one) => (one.kind === Kind.FIELD ? one.name.value : ""));
    if (definition.operation === "mutation") expect(fields).toHaveLength(1);
    expect(fields.length).toBeLessThanOrEqual(2);
  }
});

test("every document that the real platform ran is valid against the schema too", () => {
  const { queries, exchanges } = readRecording();
  const ran = new Set(exchanges.filter(({ e }) => e === undefined).map(({ q }) => q));
  const invalid = [...ran]
    .filter((q) => validate(schema, parse(queries[q] as string)).length > 0)
    .map((q) => queries[q]);
  // The trash is not part of the sandbox.
  expect(invalid.filter((query) => !query?.includes("deleteOperation"))).toEqual([]);
});

test("every tool of the server has one binding, and every binding is of a tool", () => {
  const tools = readTools(readImage()).filter(({ server }) => server === "cti");
  const bound = ctiBindings.map(({ method }) => `${method.parent.typeName}/${method.name}`);
  const wanted = tools.map(({ method }) => `${method.parent.typeName}/${method.name}`);
  expect(bound.toSorted()).toEqual(wanted.toSorted());
  expect(tools.length).toBe(31);
});
