import { create } from "@bufbuild/protobuf";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compileEncode } from "../../../../services/shared/tools/codec/encode.js";
import { readImage } from "../../../../services/shared/tools/image.js";
import { readTools } from "../../../../services/shared/tools/tools.js";
import { anyMessage } from "../../../facade/support/arbitrary-message.js";

const TOOLS = readTools(readImage()).filter(({ listing }) => listing.outputSchema !== undefined);
const validators = new AjvJsonSchemaValidator();

/** What proto JSON writes as a text, and no platform can send: JSON has no such number. */
const ENDLESS = /:"(?:-?Infinity|NaN)"/g;

/** An enum value that the API has no word for is written as its number; no service gives one. */
const UNKNOWN_WORD = / must be (string|equal to one of the allowed values)$/;

test.each(TOOLS.map((tool) => [`${tool.server}/${tool.name}`, tool] as const))(
  "whatever %s answers fits the schema that it publishes, the empty answer too",
  (_name, { result, listing }) => {
    const fits = validators.getValidator(listing.outputSchema as never);
    const encode = compileEncode(result, true);
    expect(fits(JSON.parse(encode(create(result))))).toMatchObject({ valid: true });
    fc.assert(
      fc.property(anyMessage(result), (message) => {
        const { errorMessage = "" } = fits(JSON.parse(encode(message).replace(ENDLESS, ":0")));
        expect(errorMessage.split(", ").filter((fault) => fault !== "" && !UNKNOWN_WORD.test(fault))).toEqual([]);
      }),
      { numRuns: 5, seed: 9 },
    );
  },
);
