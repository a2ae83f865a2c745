import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

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

/** A server that gives recorded answers and nothing else, and remembers what it was asked. */
export async function startAnswering() {
  let answers: readonly Answer[] = [];
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const [, tenant, rest] = /^\/api(?:\/tenants\/([0-9a-f-]{36}))?(\/.*)$/.exec(request.url ?? "") ?? [];
    const path = `/api${rest}`;
    const method = request.method ?? "";
    const body = await text(request);
    asked.push({ method, path, tenant, body: body === "" ? undefined : JSON.parse(body) });
    const [me = "", tenants = ""] = WHO[emailOf(request.headers.authorization)] ?? [];
    const standing = [recorded(me), recorded(tenants), recorded("tags"), recorded("settings")];
    const found = [...answers, ...standing].find((answer) => answer.method === method && answer.path === path);
    response.writeHead(found?.status ?? 501, { "content-type": "application/json" });
    response.end(found?.body == null ? "" : JSON.stringify(found.body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    /** Gives these answers from now on, besides those on who is calling and on tags. */
    play(...given: readonly Answer[]) {
      answers = given;
    },
    close: () => new Promise<void>((done) => server.close(() => done())),
  };
}

function emailOf(authorization = ""): string {
  const claims = Buffer.from(authorization.split(".")[1] ?? "", "base64url").toString();
  return (JSON.parse(claims) as { email: string }).email;
}
