import { setTimeout as sleep } from "node:timers/promises";
import type { HttpAnswer } from "../answers.js";
import { once } from "../load.js";
import type { BareAnswer } from "../servers/listen-bare.js";
import { type Server, startOwn } from "../servers/server.js";
import type { Stored, StoringAnswer } from "../servers/storing.js";

/** Headers that a floor sends too. */
const KEPT = ["content-type", "content-encoding", "cache-control", "etag", "vary"];
/** How often a server is asked until it sends what it prepares in the background. */
const ATTEMPTS = 100;
const PAUSE_MS = 20;

/** What an answer must be, for its group to be what its name says. */
export interface Wanted {
  readonly status: number;
  readonly encoding?: string | undefined;
}

/** The answer of a server to a request, once it is the wanted one. @throws Error that says what came instead. */
export async function capture(port: number, request: Buffer, { status, encoding }: Wanted): Promise<HttpAnswer> {
  let answer = await once(port, request);
  for (let i = 1; i < ATTEMPTS && answer.headers["content-encoding"] !== encoding; i++) {
    await sleep(PAUSE_MS);
    answer = await once(port, request);
  }
  if (answer.status === status && answer.headers["content-encoding"] === encoding) return answer;
  const said = `${answer.status} ${answer.headers["content-encoding"] ?? "plain"} ${answer.body.toString().slice(0, 300)}`;
  throw new Error(`wanted ${status} ${encoding ?? "plain"}, and the answer is ${said}`);
}

/** Starts the floor that sends the same answer. */
export function startFloor(
  answer: HttpAnswer,
  also: Pick<BareAnswer, "answersId" | "authorization"> = {},
): Promise<Server> {
  return startOwn("./bare.js", { ...bareOf(answer), ...also });
}

/** Starts a floor that stores something before it sends the same answer. */
export function startStoringFloor(answer: HttpAnswer, stored: Stored): Promise<Server> {
  return startOwn("./storing.js", { ...bareOf(answer), ...stored } satisfies StoringAnswer);
}

function bareOf({ status, headers, body }: HttpAnswer): BareAnswer {
  const kept = KEPT.flatMap((name): [string, string][] => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  return { status, headers: kept, body: body.toString("base64") };
}

/** The JSON-RPC message of an answer, which may be an event stream. */
export function messageOf({ headers, body }: HttpAnswer): { readonly result?: Record<string, unknown> } {
  const text = body.toString();
  const isStream = headers["content-type"]?.startsWith("text/event-stream") ?? false;
  const data = isStream ? /^data: ?(\{.*)$/m.exec(text)?.[1] : text;
  return JSON.parse(data ?? "{}");
}
