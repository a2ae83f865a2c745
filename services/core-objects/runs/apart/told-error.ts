import { type Fields, fieldsOf, listOf, textIn, wordIn } from "./loose-json.js";

// What a service of models says that failed, in whichever of its shapes: the error of OpenAI, the same in a list
// (Gemini), without its envelope (vLLM), as a text (TGI), as a detail (FastAPI), as a state of its own (MiniMax), or as
// the page of a proxy.

const MAX_WORDS = 1_000;
/** Longest page that is looked at, in characters. */
const MAX_PAGE = 64 * 1024;

/** An error in plain words. */
export interface ToldWords {
  readonly message: string;
  /** The service's own word for it, or ""; a list has its words one after another. */
  readonly code: string;
  readonly param: string;
  /** In how long it wants to be asked again, as a header would say it; "" if it does not say. */
  readonly after: string;
}

/** The error in the body of an answer; undefined if it tells none. */
export function toldIn(body: unknown): ToldWords | undefined {
  const whole = fieldsOf(Array.isArray(body) ? body[0] : body);
  const found = whole.error ?? whole.base_resp ?? (isBare(whole) ? whole : undefined);
  if (found === undefined || found === null) return undefined;
  const error = fieldsOf(found);
  const { status_msg, msg, detail, error_description } = error;
  const message = typeof found === "string" ? found : (error.message ?? status_msg ?? msg ?? detail);
  const text = wordsIn(message ?? error_description ?? found).slice(0, MAX_WORDS);
  const inner = fieldsOf(error.innererror);
  const words = [error.code, error.type, error.status_code, inner.code].map(wordIn).filter((one) => one !== "");
  return { message: text, code: words.join(" "), param: wordIn(error.param), after: delayIn(error, text) };
}

/** An error that is not in a field of that name. */
function isBare({ object, choices, ...more }: Fields): boolean {
  if (object === "error") return true;
  return choices === undefined && ["message", "msg", "detail"].some((name) => wordsIn(more[name]) !== "");
}

/** A text, or those of a list that a validator made. */
function wordsIn(value: unknown): string {
  if (!Array.isArray(value)) return textIn(value);
  return value
    .slice(0, 5)
    .map((one) => wordIn(fieldsOf(one).msg ?? fieldsOf(one).message) || textIn(one))
    .join("; ");
}

/** A limit of a day is not over after the delay that is told with it. */
function delayIn({ details }: Fields, text: string): string {
  const all = listOf(details).map(fieldsOf);
  const quotas = all.flatMap(({ violations }) => listOf(violations).map((one) => wordIn(fieldsOf(one).quotaId)));
  if (quotas.some((one) => /PerDay/i.test(one))) return "";
  const stated = all.map(({ retryDelay }) => wordIn(retryDelay)).find((one) => one !== "");
  return stated ?? /(?:retry|try again) in (\d+(?:\.\d+)?(?:ms|s|m|h)(?:\d+(?:\.\d+)?s)?)\b/i.exec(text)?.[1] ?? "";
}

/** What a page says that is no JSON: its title, or its first words. Each pattern stops at the next tag, so that its time is that of the page. */
export function pageWords(page: string): string {
  const start = page.slice(0, MAX_PAGE);
  const title = /<title[^>]{0,200}>([^<]{1,300})/i.exec(start)?.[1];
  return (title ?? start.replace(/<[^<>]{0,2000}>/g, " ")).replace(/\s+/g, " ").trim().slice(0, 300);
}
