import type { APIError } from "openai";

// Models differ in which parameters they take; what they say of one that they refuse differs too.

/** The names of parameters in requests, by those that agents give them. */
const NAMES = {
  temperature: ["temperature"],
  top_p: ["top_p"],
  max_output_tokens: ["max_completion_tokens", "max_tokens"],
  reasoning_effort: ["reasoning_effort", "reasoning"],
  stop: ["stop"],
} as const;

/** The parameter of a request that a service refuses, as agents name it; undefined if it is about something else. */
export function refusedParameter(error: unknown, request: object): string | undefined {
  const { status, param, message = "" } = error as Partial<APIError>;
  if (status !== 400 && status !== 422) return undefined;
  const sent = Object.entries(NAMES).filter(([, [...names]]) => names.some((name) => name in request));
  const named = sent.find(([, names]) => (names as readonly string[]).includes(param ?? ""));
  const said = sent.find(([, names]) => names.some((name) => says(message, name)));
  return (named ?? said)?.[0];
}

/** A name that is a word of English as well is one only in quotes. */
function says(message: string, name: string): boolean {
  const isWord = name === "stop" || name === "reasoning";
  return (isWord ? new RegExp(`["'\`]${name}["'\`]`) : new RegExp(`\\b${name}\\b`)).test(message);
}
