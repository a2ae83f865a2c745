import { randomUUID } from "node:crypto";

// The forms in which the platform answers, refusals above all: bare, with a
// message, with fields, empty.

/** What a request is answered with. */
export interface Reply {
  readonly status: number;
  /** Undefined for an empty body. */
  readonly body: unknown;
  /** The media type of a body that is sent as it is. */
  readonly file?: string;
}

/** A refusal that has no reason in it: the path is added where it is sent. */
export class Bare extends Error {
  constructor(readonly status: number) {
    super(`status ${status}`);
  }
}

/** A refusal with a body of its own. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown,
  ) {
    super(`status ${status}`);
  }
}

/** A success; without a value its body is empty. */
export function ok(body?: unknown): Reply {
  return { status: 200, body };
}

/** The id of such an answer is a new one, not the object's. */
export function refusal(status: number, message: string): Refusal {
  return new Refusal(status, { id: randomUUID(), message });
}

/** 404 as the platform words it: "Element not found: …". */
export function notFound(what: string | null): Refusal {
  return refusal(404, `Element not found: ${what}`);
}

/** What the platform says of all that its database does not take, but for the statement; a constraint has a name. */
export function unstorable(reason: string, constraint?: string): Refusal {
  const said =
    constraint === undefined
      ? { type: "DataIntegrityViolationException", message: "Database integrity violation" }
      : { type: "ConstraintViolationException", message: `Error applying constraint ${constraint}` };
  return new Refusal(409, { ...said, error: `could not execute batch: ${reason}` });
}

/** @param errors reasons by the JSON name of the field. */
export function invalid(errors: Readonly<Record<string, string>>): Refusal {
  const children = Object.fromEntries(Object.entries(errors).map(([field, reason]) => [field, { errors: [reason] }]));
  return new Refusal(400, { code: 400, message: "Validation Failed", errors: { children } });
}

const WORDS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  415: "Unsupported Media Type",
  500: "Internal Server Error",
};

/** The body of a refusal that gives no reason. */
export function bareBody(status: number, path: string, now: number): unknown {
  return {
    timestamp: new Date(now).toISOString().replace("Z", "+00:00"),
    status,
    error: WORDS[status] ?? "Error",
    path,
  };
}
