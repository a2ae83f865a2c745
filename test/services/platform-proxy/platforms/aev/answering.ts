import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { INPUTS, SEARCHES } from "./upstream-fields.js";

// What an OpenAEV 2.4.0 answered to the routes that the tools call, word for
// word but for addresses and for what is long and read by no tool.

/** One recorded answer; a body of null stands for none. */
export interface Answer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

export const ANSWERS = JSON.parse(readFileSync(new URL("./answers.snap.json", import.meta.url), "utf8")) as Readonly<
  Record<string, Answer>
>;

/** An answer by its name in answers.snap.json. */
export function recorded(name: string): Answer {
  const answer = ANSWERS[name];
  if (answer === undefined) throw new Error(`no answer is recorded under ${name}`);
  return answer;
}

export interface Asked {
  readonly method: string;
  /** Without the tenant. */
  readonly path: string;
  readonly tenant: string | undefined;
  readonly body: unknown;
}

const WHO: Readonly<Record<string, readonly [string, string]>> = {
  "observer@sallyport.example": ["me", "tenants"],
  "planner@sallyport.example": ["meOfMember", "tenantsOfMember"],
  "admin@sallyport.example": ["meOfAdmin", "tenantsOfAdmin"],
};

export interface Answering {
  readonly url: string;
  readonly asked: Asked[];
  /** Gives these answers from now on, besides those on who is calling and on tags. */
  play(...given: readonly Answer[]): void;
  close(): Promise<void>;
}

/**
 * A server that gives recorded answers and nothing else, and remembers what it
 * was asked. A key to search, sort or write by that the platform does not take
 * is refused as it refuses one.
 */
export async function startAnswering(): Promise<Answering> {
  let answers: readonly Answer[] = [];
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const [, tenant, rest] = /^\/api(?:\/tenants\/([0-9a-f-]{36}))?(\/.*)$/.exec(request.url ?? "") ?? [];
    const path = `/api${rest}`;
    const method = request.method ?? "";
    const sent = await text(request);
    const body: unknown = sent === "" ? undefined : JSON.parse(sent);
    asked.push({ method, path, tenant, body });
    const [me = "", tenants = ""] = WHO[emailOf(request.headers.authorization)] ?? [];
    const standing = [recorded(me), recorded(tenants), recorded("tags")];
    const known = [...answers, ...standing].find((answer) => answer.method === method && answer.path === path);
    const found = isTaken(`${method} ${path.replace(/[0-9a-f-]{36}/, "{id}")}`, body) ? known : recorded("unknownKey");
    response.writeHead(found?.status ?? 501, { "content-type": "application/json" });
    response.end(found?.body == null ? "" : JSON.stringify(found.body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    play(...given) {
      answers = given;
    },
    close: () => new Promise<void>((done) => server.close(() => done())),
  };
}

interface SearchBody {
  readonly filterGroup: { readonly filters: readonly { readonly key: string }[] };
  readonly sorts: readonly { readonly property: string }[];
}

function isTaken(route: string, body: unknown): boolean {
  const searchable = SEARCHES[route];
  if (searchable === undefined) return Object.keys(body ?? {}).every((field) => INPUTS[route]?.includes(field));
  const { filterGroup, sorts } = body as SearchBody;
  return (
    filterGroup.filters.every(({ key }) => searchable.filters.includes(key)) &&
    sorts.every(({ property }) => searchable.sorts.includes(property))
  );
}

function emailOf(authorization = ""): string {
  const claims = Buffer.from(authorization.split(".")[1] ?? "", "base64url").toString();
  return (JSON.parse(claims) as { email: string }).email;
}
