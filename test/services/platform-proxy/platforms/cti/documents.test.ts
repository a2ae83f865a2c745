import { buildSchema, Kind, parse, validate, validateSchema } from "graphql";
import { expect, test } from "vitest";
import { loadPlatform } from "../../../../../services/platform-proxy/parts.js";
import { SDL } from "../../../../../services/sandbox/cti/sdl.js";
import { readImage } from "../../../../../services/shared/tools/image.js";
import { readTools } from "../../../../../services/shared/tools/tools.js";
import { readRecording } from "../../../../support/platforms/recording.js";
import { documents } from "./binding-documents.js";
import { readEvidence, usesOf } from "./evidence.js";

const { bindings: ctiBindings } = await loadPlatform("cti");

const schema = buildSchema(SDL);

test("the sandbox's schema is valid", () => {
  expect(validateSchema(schema)).toEqual([]);
});

test("every document of the bindings is found", () => {
  expect(documents.length).toBeGreaterThan(60);
});

test.each(documents)("the document %s is valid against the schema", (_, document) => {
  expect(validate(schema, parse(document)).map(({ message }) => message)).toEqual([]);
});

const { ran, published } = readEvidence();

/** Documents that the real platform answered without an error. */
const taken = new Set(
  readRecording("cti")
    .exchanges.filter(({ shape }) => !("errors" in (shape as object)))
    .map(({ document }) => document as string),
);

test.each(documents)("the document %s uses nothing that the real platform is not known to take", (_, document) => {
  const known = new Set([...ran, ...published]);
  expect(usesOf(document, schema).filter((use) => !known.has(use))).toEqual([]);
});

test("nothing is kept as known that no document uses", () => {
  const used = new Set(documents.flatMap(([, document]) => usesOf(document, schema)));
  expect([...ran, ...published].filter((use) => !used.has(use))).toEqual([]);
});

test("what counts as run is in the recording, but for creations of which only the names are", () => {
  const recorded = new Set([...taken].flatMap((query) => usesOf(query, schema)));
  const unrecorded = ran.filter((use) => !recorded.has(use));
  expect(unrecorded.filter((use) => !/^Mutation\.\w+Add(\(\w+\)(: \w+!?)?)?$/.test(use))).toEqual([]);
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
  const invalid = [...taken].filter((document) => validate(schema, parse(document)).length > 0);
  // The trash is not part of the sandbox.
  expect(invalid.filter((document) => !document.includes("deleteOperation"))).toEqual([]);
});

test("every tool of the server has one binding, and every binding is of a tool", () => {
  const tools = readTools(readImage()).filter(({ server }) => server === "cti");
  const bound = ctiBindings.map(({ method }) => `${method.parent.typeName}/${method.name}`);
  const wanted = tools.map(({ method }) => `${method.parent.typeName}/${method.name}`);
  expect(bound.toSorted()).toEqual(wanted.toSorted());
  expect(tools.length).toBe(31);
});
