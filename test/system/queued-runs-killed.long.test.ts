import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { results, startModel } from "../services/core-objects/runs/model-server.js";
import { call } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// Runs that wait when everything is killed: QUEUED_RUNS=10000 for as many, QUEUED_PEOPLE=100 for how many people have
// them, each with a model and a tool of their own.

const RUNS = Number(process.env.QUEUED_RUNS ?? 300);
/** Clients that trigger them. */
const CLIENTS = 16;
/** One in so many calls a tool. */
const WITH_TOOL = 10;
/** Runs that a worker has at a time. */
const AT_ONCE = 8;
/** A person may have 100 unfinished. */
const PEOPLE = Number(process.env.QUEUED_PEOPLE ?? Math.ceil(RUNS / 100));
const TIMEOUT_MS = 120_000 + RUNS * 300;

interface Person {
  readonly key: string;
  readonly agent: string;
}

/** A person with an agent that has a model and a tool. */
async function personOf({ baseUrl, bootstrap }: Program, url: string, n: number): Promise<Person> {
  const rpc = async <T>(path: string, body: object): Promise<T> => {
    const reply = await fetch(`${baseUrl}/rpc/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${bootstrap.admin.api_key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(await reply.text());
    return (await reply.json()) as T;
  };
  const userEmail = `person-${n}@example.org`;
  await rpc("auth.v1.UserService/CreateUser", { email: userEmail, name: `Person ${n}` });
  const made = await rpc<{ token: string }>("auth.v1.ApiKeyService/CreateApiKey", { userEmail, name: "Runs" });
  const key = made.token;
  const core = <T>(name: string, args: object): Promise<T> => call<T>(`${baseUrl}/mcp/core`, key, name, args);
  const { integration } = await core<{ integration: { id: string } }>("create_integration", {
    ...{ name: "Models", type: "openai", endpoint: `${url}/v1`, models: ["large"] },
  });
  const { custom_tool: tool } = await core<{ custom_tool: { id: string } }>("create_custom_tool", {
    ...{ name: "record", description: "Records.", method: "post", url: `${url}/` },
    input_schema: { type: "object", properties: { run: { type: "string" } } },
  });
  const { agent } = await core<{ agent: { id: string } }>("create_agent", {
    ...{ name: "Recorder", instructions: "Record.", resource_ids: [integration.id, tool.id] },
  });
  return { key, agent: agent.id };
}

test(
  `${RUNS} queued runs end once each after kill -9 of everything`,
  async () => {
    const asked = new Map<string, number>();
    const called = new Map<string, number>();
    const count = (map: Map<string, number>, key: string): void => void map.set(key, (map.get(key) ?? 0) + 1);
    let isSlow = true;
    const model = await startModel(
      async (question) => {
        const input = question.messages.find(({ role }) => role === "user")?.content ?? "";
        const isFirst = results(question).length === 0;
        if (isFirst) count(asked, input);
        // Until everything is killed hardly anything ends.
        if (isSlow) await sleep(3_000);
        return isFirst && Number(input) % WITH_TOOL === 0 ? { call: "custom__record", args: { run: input } } : "Done.";
      },
      (_request, body, response) => {
        count(called, (JSON.parse(body) as { run: string }).run);
        response.end("recorded");
      },
    );
    const dataDir = mkdtempSync(join(tmpdir(), "queued-"));
    const env = { LOG_LEVEL: "warn" };
    let program = await startProgram({ env, dataDir });
    try {
      const people: Person[] = [];
      for (let n = 0; n < PEOPLE; n++) people.push(await personOf(program, model.url, n));
      const core = <T>({ key }: Pick<Person, "key">, name: string, args: object): Promise<T> =>
        call<T>(`${program.baseUrl}/mcp/core`, key, name, args);
      const ids = new Set<string>();
      let next = 0;
      const trigger = async (): Promise<void> => {
        while (next < RUNS) {
          const input = String(next++);
          const person = people[Number(input) % people.length] as Person;
          const { run } = await core<{ run: { id: string } }>(person, "trigger_run", { agent_id: person.agent, input });
          ids.add(run.id);
        }
      };
      const begun = performance.now();
      await Promise.all(Array.from({ length: CLIENTS }, trigger));
      const queued = performance.now();
      expect(ids.size).toBe(RUNS);
      // What it started ends with it.
      program.process.kill("SIGKILL");
      await sleep(1_000);
      isSlow = false;
      program = await startProgram({ env, dataDir });
      const restarted = performance.now();
      const states = async (): Promise<Map<string, string>> => {
        const found = new Map<string, string>();
        for (const person of people) {
          const { runs = [] } = await core<{ runs?: { id: string; state: string }[] }>(person, "list_runs", {
            page_size: 100,
          });
          for (const { id, state } of runs) found.set(id, state);
        }
        return found;
      };
      await expect
        .poll(() => asked.size, { timeout: TIMEOUT_MS, interval: 1_000, message: "not all are executed" })
        .toBe(RUNS);
      const ofState = (all: Map<string, string>) => [...all.values()].filter((state) => state !== "completed");
      await expect.poll(async () => ofState(await states()), { timeout: 60_000, interval: 1_000 }).toEqual([]);
      const ended = performance.now();
      const all = await states();
      expect(new Set(all.keys())).toEqual(ids);
      expect([...called].filter(([, times]) => times > 1)).toEqual([]);
      // Only those that a worker had when it was killed were asked twice.
      expect([...asked.values()].filter((times) => times > 1).length).toBeLessThanOrEqual(AT_ONCE);
      const seconds = (from: number, to: number): number => Math.round((to - from) / 100) / 10;
      process.stdout.write(
        `${RUNS} queued in ${seconds(begun, queued)} s, ended ${seconds(restarted, ended)} s after the restart; asked twice: ${[...asked.values()].filter((times) => times > 1).length}\n`,
      );
    } finally {
      await program.stop();
      await model.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
  2 * TIMEOUT_MS,
);
