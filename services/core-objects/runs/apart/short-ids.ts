import { createHash } from "node:crypto";
import type { APIError } from "openai";

// Mistral takes ids of calls that are nine letters and digits, and no others: those of another model, or those that
// were made here, are not.

const SHORT = /^[a-zA-Z0-9]{9}$/;

interface Said {
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
}

/** Whether a service refuses a request for the ids of its calls. */
export function isAboutIds(error: unknown): boolean {
  const { status, message = "" } = error as Partial<APIError>;
  return (status === 400 || status === 422) && /tool.call.?id.{0,300}length of 9/is.test(message);
}

/** The same request with short ids: the same one for the same id. */
export function withShortIds(request: object): object {
  const { messages = [] } = request as { readonly messages?: readonly Said[] };
  return { ...request, messages: messages.map(withShort) };
}

function withShort({ tool_call_id, tool_calls, ...said }: Said): object {
  return {
    ...said,
    ...(tool_call_id !== undefined && { tool_call_id: shortOf(tool_call_id) }),
    ...(tool_calls !== undefined && { tool_calls: tool_calls.map((one) => ({ ...one, id: shortOf(one.id) })) }),
  };
}

function shortOf(id: string): string {
  return SHORT.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 9);
}
