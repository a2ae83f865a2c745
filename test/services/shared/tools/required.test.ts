import { getOption } from "@bufbuild/protobuf";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { expect, test } from "vitest";
import { readImage } from "../../../../services/shared/tools/image.js";
import { readTools } from "../../../../services/shared/tools/tools.js";

const TOOLS = readTools(readImage());

test("a list that must hold something is required in the schema of its tool", () => {
  const lists = TOOLS.flatMap((tool) =>
    tool.method.input.fields
      .filter((field) => {
        const { type } = getOption(field, fieldRules);
        return type.case === "repeated" && type.value.minItems > 0n;
      })
      .map((field) => ({ tool, name: field.name })),
  );
  expect(lists.map(({ tool, name }) => `${tool.name}.${name}`)).toContain("search_entities.types");
  for (const { tool, name } of lists) expect(tool.listing.inputSchema.required).toContain(name);
});

test("what an answer may leave out is never required of it", () => {
  const { outputSchema } = TOOLS.find(({ name }) => name === "list_controls")!.listing;
  expect(outputSchema?.required).toEqual(["controls", "total_size"]);
});

test("a word of an enum that says what it means is not said twice", () => {
  const { inputSchema } = TOOLS.find(({ name }) => name === "inspect_agent_traces")!.listing;
  const { description } = inputSchema.properties!.period!;
  expect(description).toContain("last_day: The last 24 hours.");
  expect(description).not.toContain("last_hour:");
});
