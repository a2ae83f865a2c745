import { expect, test } from "vitest";
import { options } from "../../../services/launcher/config.js";
import { readModels } from "../../../services/launcher/model-settings.js";
import { readConfig } from "../../../services/shared/process/config.js";

const problemOf = (given: unknown): string => {
  try {
    readModels(JSON.stringify(given));
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

test("prices and windows of models, each alone or both; what is cached costs as the rest if nothing is said", () => {
  const models = {
    large: { input: 1.25, output: 10, cached: 0.125, window: 400_000 },
    small: { input: 0, output: 0 },
    own: { window: 8_192 },
  };
  expect(readModels(JSON.stringify({ currency: "EUR", models }))).toEqual({
    currency: "EUR",
    models: new Map([
      ["large", { price: { input: 1.25, output: 10, cached: 0.125 }, window: 400_000 }],
      ["small", { price: { input: 0, output: 0, cached: 0 } }],
      ["own", { window: 8_192 }],
    ] as const),
  });
  expect(readModels('{"models":{"own":{"window":8192}}}').currency).toBe("");
});

test.each([
  [{ models: { a: { input: 1, output: 2 } } }, /currency must be three capital letters/],
  [{ currency: "euro", models: {} }, /currency must be three capital letters/],
  [{ currency: "EUR", models: { a: { input: 1 } } }, /models\["a"\] needs both input and output/],
  [{ currency: "EUR", models: { a: { cached: 1 } } }, /models\["a"\] needs both input and output/],
  [{ currency: "EUR", models: { a: { input: -1, output: 2 } } }, /models\["a"\] input must be the price/],
  [{ currency: "EUR", models: { a: { window: 10 } } }, /models\["a"\] window must be a whole number/],
  [{ currency: "EUR", models: { a: { price: 1 } } }, /models\["a"\] has no member price: use input, output/],
  [{ currency: "EUR", models: { a: 3 } }, /models\["a"\] must be an object/],
  [{ currency: "EUR", models: {}, rate: 1 }, /rate is not a member: use currency and models/],
  [[], /must be a JSON object such as/],
])("%j is refused in words", (given, words) => {
  expect(problemOf(given)).toMatch(words);
});

test("all that is wrong is said at once, with the settings of budgets", () => {
  const env = { MODELS: "{", MODEL_COST_PER_USER_PER_DAY: "-1", MODEL_TOKENS_PER_DAY: "many" };
  expect(() => readConfig(options, [], env)).toThrow(
    /MODELS\) must be JSON.*MODEL_COST_PER_USER_PER_DAY\) must be a number above 0.*MODEL_TOKENS_PER_DAY\)/s,
  );
});
