import { IN_BODY } from "./retry-after.js";
import { pageWords, type ToldWords, toldIn } from "./told-error.js";

/** Longest body of a refusal that is read, in bytes. */
const MAX_BYTES = 256 * 1024;
/** Statuses at which a service may say when it wants to be asked again. */
const LATER: ReadonlySet<number> = new Set([429, 503, 529]);

/** A fetch whose refusals tell what failed in the one shape that the client reads, and when to ask again in a header. */
export function plainlyTold(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const answer = await fetch(input, init);
    // What is redirected is told by its caller.
    if (answer.ok || answer.status < 400) return answer;
    const { status, statusText } = answer;
    const headers = new Headers(answer.headers);
    headers.delete(IN_BODY);
    const { after, message, ...more } = wordsIn(await beginningOf(answer), statusText);
    // The client puts the status in front.
    const error = { message: message.startsWith(`${status} `) ? message.slice(4) : message, ...more };
    if (after !== "" && LATER.has(status) && !headers.has("retry-after")) headers.set(IN_BODY, after);
    headers.set("content-type", "application/json");
    for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
    return new Response(JSON.stringify({ error }), { status, statusText, headers });
  };
}

function wordsIn(text: string, statusText: string): ToldWords {
  let body: unknown;
  try {
    body = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    return { message: pageWords(text) || statusText, code: "", param: "", after: "" };
  }
  const told = toldIn(body) ?? { message: text.slice(0, 300), code: "", param: "", after: "" };
  return told.message === "" ? { ...told, message: statusText } : told;
}

async function beginningOf({ body }: Response): Promise<string> {
  if (body === null) return "";
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    bytes += piece.byteLength;
    if (bytes > MAX_BYTES) break;
  }
  return Buffer.concat(pieces).toString("utf8");
}
