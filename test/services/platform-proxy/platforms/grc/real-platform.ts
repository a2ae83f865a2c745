import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** One exchange with the real platform: lists cut to four items, long texts to their beginning. */
export interface Answer {
  readonly line: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly response: unknown;
}

const ANSWERS = new Map(
  readFileSync(new URL("real-answers.jsonl", import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Answer)
    .map((answer) => [answer.line, answer]),
);

/** The recorded answer with this number. */
export function answer(line: number): Answer {
  const found = ANSWERS.get(line);
  if (found === undefined) throw new Error(`exchange ${line} is not in real-answers.jsonl`);
  return found;
}

/** The filters that each list of the platform declares; it ignores every other name without a word. */
const FILTERS: Readonly<Record<string, readonly string[]>> = {
  "/api/folders/": ["content_type", "parent_folder"],
  "/api/search/": ["q", "type"],
  "/api/frameworks/": ["provider"],
  "/api/applied-controls/": ["folder", "status", "category", "csf_function", "priority"],
  "/api/evidences/": ["folder", "applied_controls", "status"],
  "/api/requirement-assessments/": [
    "folder",
    "compliance_assessment",
    "applied_controls",
    "result",
    "requirement__assessable",
  ],
  "/api/risk-scenarios/": ["folder", "risk_assessment", "current_level", "applied_controls", "treatment"],
  "/api/ebios-rm/studies/": ["folder"],
  "/api/ebios-rm/operational-scenarios/": ["ebios_rm_study"],
};
const EVERYWHERE = ["limit", "offset", "ordering", "search", "id"];

/** What was asked of the platform. */
export interface Asked {
  readonly verb: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Record<string, unknown> | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
}

export interface RealPlatform {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Asked for what nobody recorded, filtered by what the route does not know, or wrote what is no field of it. */
  readonly mistakes: readonly string[];
  /** Answers a verb and path from now on; the path is that of the recorded exchange where none is given. */
  on(recorded: Answer, path?: string): void;
  close(): Promise<void>;
}

/** Starts a server that gives the real platform's recorded answers, and nothing else. */
export async function startRealPlatform(): Promise<RealPlatform> {
  const given = new Map<string, Answer>();
  const asked: Asked[] = [];
  const mistakes: string[] = [];

  function mistakeOf({ verb, path, query, body }: Asked, recorded: Answer | undefined): string | undefined {
    if (recorded === undefined) return `${verb} ${path} was not recorded`;
    const known = [...EVERYWHERE, ...(FILTERS[path] ?? [])];
    const unknown = [...query.keys()].filter((name) => !known.includes(name));
    if (unknown.length > 0) return `${path} does not filter by ${unknown}`;
    // A write is answered in the form in which it is written.
    const fields = recorded.status < 300 && path !== EXCHANGE ? (recorded.response as object | null) : undefined;
    const lost = Object.keys(body ?? {}).filter((name) => fields !== undefined && !(name in (fields ?? {})));
    if (lost.length > 0) return `${verb} ${path} takes no ${lost}`;
    return undefined;
  }

  const server = createServer(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const { pathname, searchParams } = new URL(message.url!, "http://platform");
    const request: Asked = {
      verb: message.method!,
      path: pathname,
      query: searchParams,
      body: text === "" ? undefined : JSON.parse(text),
      headers: message.headers,
    };
    asked.push(request);
    const recorded = given.get(`${request.verb} ${pathname}`);
    const mistake = mistakeOf(request, recorded);
    if (mistake !== undefined) mistakes.push(mistake);
    response.writeHead(recorded?.status ?? 599).end(recorded === undefined ? "" : written(recorded, searchParams));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    mistakes,
    on(recorded, path = recorded.path) {
      given.set(`${recorded.method} ${path}`, recorded);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const EXCHANGE = "/api/_allauth/app/v1/auth/provider/token";

/** The recorded body, as it is where that is a text; of a list, the rows that are asked for. */
function written({ response }: Answer, query: URLSearchParams): string {
  if (response === null) return "";
  const { text, results } = response as { text?: string; results?: { id: string }[] };
  if (text !== undefined) return text;
  if (results === undefined) return JSON.stringify(response);
  const ids = query.get("id")?.split(",");
  return JSON.stringify({ ...(response as object), results: results.filter(({ id }) => ids?.includes(id) ?? true) });
}
