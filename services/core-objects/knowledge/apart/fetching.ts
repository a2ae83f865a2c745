import { createDispatcher, plainError } from "../../../shared/isolation/apart/bounded-fetch.js";
import { fetch, type Response } from "../../../shared/outgoing/agent.js";
import { calledUrlProblem } from "../../../shared/outgoing/named-url.js";
import type { OutgoingPolicy } from "../../../shared/outgoing/policy.js";
import { parsedUrl } from "../../../shared/parsed-url.js";
import type { DocumentType } from "../records.js";
import { decoderOf } from "./charset.js";

// Pages and files at addresses that people name. Every address is checked when
// it is dialled, those of redirects too.

const MAX_BYTES = 64 * 2 ** 20;
const MAX_REDIRECTS = 5;
/** How long all of it may take, in milliseconds. */
const FETCH_MS = 60_000;
const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const TYPES: Readonly<Record<string, DocumentType>> = {
  "text/html": "html",
  "application/xhtml+xml": "html",
  "application/pdf": "pdf",
  [DOCX]: "docx",
  "text/markdown": "markdown",
};
const ENDINGS: readonly (readonly [RegExp, DocumentType])[] = [
  [/\.pdf$/i, "pdf"],
  [/\.docx$/i, "docx"],
  [/\.(?:md|markdown)$/i, "markdown"],
  [/\.x?html?$/i, "html"],
];
const ACCEPT = `text/html, application/pdf, ${DOCX}, text/markdown, text/plain;q=0.9, */*;q=0.1`;

/** What came from an address. */
export interface Fetched {
  readonly type: DocumentType;
  readonly pieces: Uint8Array[];
}

/** It did not come; trying again later may help. */
export class PassingError extends Error {
  override name = "PassingError";
}

/** Fetches a page or a file. */
export async function fetched(url: string, policy: OutgoingPolicy): Promise<Fetched> {
  const dispatcher = createDispatcher(policy);
  const signal = AbortSignal.timeout(FETCH_MS);
  let at = url;
  try {
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const answer = await fetch(at, { dispatcher, signal, redirect: "manual", headers: { accept: ACCEPT } });
      const { status, headers } = answer;
      const location = status >= 300 && status < 400 ? headers.get("location") : null;
      if (location === null) return await fileOf(answer, at);
      await answer.body?.cancel();
      at = nextOf(location, at);
    }
    throw new Error(`it is redirected more than ${MAX_REDIRECTS} times`);
  } catch (error) {
    if (error instanceof PassingError) throw error;
    if (signal.aborted) throw new PassingError(`it did not come within ${FETCH_MS / 1_000} seconds`);
    throw plainError(error);
  } finally {
    await dispatcher.destroy();
  }
}

function nextOf(location: string, at: string): string {
  const next = parsedUrl(location, at);
  if (next !== undefined) next.hash = "";
  const problem = next === undefined ? "must be a URL" : calledUrlProblem(next.href);
  if (next === undefined || problem !== undefined) throw new Error(`it is redirected to an address that ${problem}`);
  if (at.startsWith("https:") && next.protocol !== "https:") throw new Error("it is redirected from https to http");
  return next.href;
}

async function fileOf(answer: Response, url: string): Promise<Fetched> {
  const { status, headers, body } = answer;
  if (status !== 200 || body === null) {
    await body?.cancel();
    const words = `its server answers with status ${status}`;
    throw status === 408 || status === 429 || status >= 500 ? new PassingError(words) : new Error(words);
  }
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw new Error("it has more than 64 MiB");
    pieces.push(piece);
  }
  const said = headers.get("content-type") ?? "";
  const type = typeOf(said.split(";", 1)[0]?.trim().toLowerCase() ?? "", url);
  const charset = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(said)?.[1];
  const decoder = charset === undefined || type === "pdf" || type === "docx" ? undefined : decoderOf(charset);
  // As its server says, whatever the page says of itself: a byte order mark wins.
  return {
    type,
    pieces: decoder === undefined ? pieces : [Buffer.from(`\ufeff${decoder.decode(Buffer.concat(pieces))}`)],
  };
}

function typeOf(said: string, url: string): DocumentType {
  const known = TYPES[said];
  if (known !== undefined) return known;
  const ending = ENDINGS.find(([one]) => one.test(new URL(url).pathname))?.[1];
  if (ending !== undefined) return ending;
  if (said === "" || said.startsWith("text/") || /[/+](?:json|xml|yaml)$/.test(said)) return "text";
  throw new Error(`it is ${said.slice(0, 100)}: text, Markdown, HTML, PDF and docx can be added`);
}
