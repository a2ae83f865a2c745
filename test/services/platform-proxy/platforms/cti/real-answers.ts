import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Kind, parse } from "graphql";

/** What a real platform (7.260817.0) answered; of lists the first two rows. */
export interface RealAnswers {
  /** `data` of answers, by what they are of. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Whole refusals, by what had been tried. */
  readonly refusals: Readonly<Record<string, Refusal>>;
}

export interface Refusal {
  readonly status: number;
  readonly body: unknown;
}

// The accounts of the recording had addresses of another domain than the tests' callers.
export const REAL: RealAnswers = JSON.parse(
  readFileSync(new URL("./real-answers.json", import.meta.url), "utf8").replaceAll(
    "@example.com",
    "@sallyport.example",
  ),
) as RealAnswers;

export interface ReplayServer {
  readonly url: string;
  /** The root fields of the requests since the last script, with their variables. */
  readonly asked: { readonly field: string; readonly variables: Readonly<Record<string, unknown>> }[];
  /** What to answer from now on: of each root field one answer after the other, the last one for good. */
  script(names: readonly string[]): void;
  /** Adds answers that the recording does not hold, by root field. */
  give(data: Readonly<Record<string, unknown>>): void;
  /** Refuses everything but "who am I" from now on. */
  refuse(refusal: Refusal): void;
  close(): Promise<void>;
}

/** Answers every request for a root field with what the real platform had answered to that field. */
export async function startReplayServer(): Promise<ReplayServer> {
  let queues = new Map<string, unknown[]>();
  let refusal: Refusal | undefined;
  const asked: ReplayServer["asked"] = [];

  function answer(query: string, variables: Record<string, unknown>): Refusal {
    const data: Record<string, unknown> = {};
    for (const definition of parse(query).definitions) {
      if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
      for (const field of definition.selectionSet.selections) {
        if (field.kind !== Kind.FIELD) continue;
        const name = field.name.value;
        if (name !== "me" && refusal !== undefined) return refusal;
        asked.push({ field: name, variables });
        const queue = queues.get(name) ?? [];
        if (queue.length === 0) throw new Error(`no answer was recorded for ${name}`);
        data[field.alias?.value ?? name] = queue.length > 1 ? queue.shift() : queue[0];
      }
    }
    return { status: 200, body: { data } };
  }

  function add(data: Readonly<Record<string, unknown>>): void {
    for (const [field, value] of Object.entries(data)) queues.set(field, [...(queues.get(field) ?? []), value]);
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { query, variables } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as {
        query: string;
        variables: Record<string, unknown>;
      };
      const { status, body } = answer(query, variables);
      const text = typeof body === "string" ? body : JSON.stringify(body);
      response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    script(names) {
      queues = new Map();
      refusal = undefined;
      asked.length = 0;
      for (const name of ["me", ...names]) add(REAL.answers[name] ?? {});
    },
    give: add,
    refuse(next) {
      refusal = next;
      asked.length = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
