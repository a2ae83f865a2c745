import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { holdsSecret } from "../../../../../services/shared/rpc/secret-fields.js";
import { compileDecode } from "../../../../../services/shared/tools/codec/decode.js";
import { readImage } from "../../../../../services/shared/tools/image.js";
import { readTools } from "../../../../../services/shared/tools/tools.js";

const SECRET = "Bearer open-sesame";

/** Ways to put a text where a secret is, or what holds one. */
function misplaced(field: DescField): JsonValue[] {
  const wrong: JsonValue[] = [
    SECRET,
    [SECRET],
    { [SECRET]: 1 },
    { Authorization: SECRET },
    [{ [SECRET]: SECRET }],
    [[SECRET]],
  ];
  const inside = field.message === undefined ? [] : insideOf(field.message);
  return [...wrong, ...inside, ...inside.map((one) => [one])];
}

function insideOf(desc: DescMessage): JsonObject[] {
  return desc.fields.flatMap((field) =>
    [SECRET, [SECRET], { [SECRET]: SECRET }, 17].map((value) => ({ [field.name]: value }) as JsonObject),
  );
}

test("no refusal repeats what was given where a secret is expected, or beside one", () => {
  let places = 0;
  for (const { name, method } of readTools(readImage())) {
    const decode = compileDecode(method.input, true);
    for (const field of method.input.fields) {
      const isSecret = field.proto.options?.debugRedact === true;
      if (!isSecret && (field.message === undefined || !holdsSecret(field.message))) continue;
      for (const value of misplaced(field)) {
        places++;
        try {
          decode({ [field.name]: value } as JsonObject);
        } catch (error) {
          expect([name, field.name, (error as Error).message]).toEqual([
            name,
            field.name,
            expect.not.stringMatching(/sesame/),
          ]);
        }
      }
    }
  }
  expect(places).toBeGreaterThan(50);
});

test("of a list with secrets, the item is named whose form is wrong", () => {
  const update = readTools(readImage()).find(({ name }) => name === "update_mcp_server");
  const decode = compileDecode(update!.method.input, true);
  const right = { name: "X-Key", value: "v" };
  expect(() => decode({ put_headers: [right, SECRET] })).toThrow(/put_headers\[1\]: must be an object$/);
  expect(() => decode({ put_headers: [{ ...right, [SECRET]: 1 }] })).toThrow(
    /put_headers\[0\]: unknown argument: known arguments are name, value$/,
  );
});

test("an argument that is given by two of its names is refused, and so are numbers out of range", () => {
  const tools = readTools(readImage());
  const list = tools.find(({ name }) => name === "list_agents");
  const decode = compileDecode(list?.method.input as DescMessage);
  expect(() => decode({ page_size: 1, pageSize: 2 })).toThrow(/pageSize: is given twice, also as page_size/);
  expect(() => decode({ pageSize: 2, page_size: 1 })).toThrow(/given twice/);
  expect(() => decode({ page_size: 1e21 })).toThrow("page_size: must be between 1 and 100, not 1e+21");
  expect(decode({ pageSize: 2 })).toMatchObject({ pageSize: 2 });
});
