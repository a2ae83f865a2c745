import type { ModelFact, ModelFacts } from "../core-objects/runs/spending/prices.js";

const MAX_MODELS = 1_000;
const MAX_NAME = 200;
const MAX_PRICE = 1_000_000;
/** Tokens of the smallest window that a run can work in, and of the largest that is believed. */
const [LEAST_WINDOW, MAX_WINDOW] = [1_000, 100_000_000];

/** The members of a model, and what each must be. */
const FIELDS = {
  input: { is: isPrice, must: "be the price of a million tokens: a number from 0" },
  output: { is: isPrice, must: "be the price of a million tokens: a number from 0" },
  cached: { is: isPrice, must: "be the price of a million tokens: a number from 0" },
  window: { is: isWindow, must: `be a whole number of tokens from ${LEAST_WINDOW} to ${MAX_WINDOW}` },
} as const;

type Given = Readonly<Record<string, unknown>>;

/**
 * Reads what a deployment knows of models.
 *
 * @param text a JSON object; docs/models.md has its members.
 * @throws Error that says everything that is wrong.
 */
export function readModels(text: string): ModelFacts {
  const given = parsed(text);
  if (!isObject(given) || !isObject(given.models))
    throw new Error('must be a JSON object such as {"currency": "EUR", "models": {"NAME": {"input": 1, "output": 2}}}');
  const { currency = "", models, ...more } = given as { currency?: unknown; models: Given };
  const problems = Object.keys(more).map((name) => `${name.slice(0, 50)} is not a member: use currency and models`);
  const all = Object.entries(models);
  if (all.length > MAX_MODELS) problems.push(`models has more than ${MAX_MODELS} members`);
  for (const [name, model] of all.slice(0, MAX_MODELS))
    problems.push(
      ...problemsOf(name, model).map((problem) => `models[${JSON.stringify(name.slice(0, 50))}] ${problem}`),
    );
  const isPriced = all.some(([, model]) => isObject(model) && model.input !== undefined);
  if (!(typeof currency === "string" && (/^[A-Z]{3}$/.test(currency) || (currency === "" && !isPriced))))
    problems.push("currency must be three capital letters such as EUR");
  if (problems.length > 0) throw new Error(`is wrong: ${problems.join("; ")}`);
  return {
    currency: currency as string,
    models: new Map(all.map(([name, model]) => [name, factOf(model as Given)])),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`must be JSON: ${(error as Error).message}`);
  }
}

function problemsOf(name: string, model: unknown): string[] {
  if (name === "" || name.length > MAX_NAME) return [`must have a name of 1 to ${MAX_NAME} characters`];
  if (!isObject(model)) return ["must be an object"];
  const known: Readonly<Record<string, { is: (value: unknown) => boolean; must: string }>> = FIELDS;
  const found = Object.entries(model).flatMap(([member, value]) => {
    const field = Object.hasOwn(known, member) ? known[member] : undefined;
    if (field === undefined) return [`has no member ${member.slice(0, 50)}: use ${Object.keys(FIELDS).join(", ")}`];
    return field.is(value) ? [] : [`${member} must ${field.must}`];
  });
  const isHalf = (model.input === undefined) !== (model.output === undefined);
  const isAlone = model.cached !== undefined && model.input === undefined;
  return [...found, ...(isHalf || isAlone ? ["needs both input and output, or neither of the prices"] : [])];
}

function factOf({ input, output, cached = input, window }: Given): ModelFact {
  return {
    ...(input !== undefined && { price: { input, output, cached } as NonNullable<ModelFact["price"]> }),
    ...(window !== undefined && { window: window as number }),
  };
}

function isObject(value: unknown): value is Given {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isPrice(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= MAX_PRICE;
}

function isWindow(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= LEAST_WINDOW && (value as number) <= MAX_WINDOW;
}
