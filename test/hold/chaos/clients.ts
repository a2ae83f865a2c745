import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../fuzz/random.js";
import { Asker, type Said } from "./asking.js";
import type { Ledger, Person, Register } from "./ledger.js";
import type { Stage } from "./stage.js";

// The load: clients that do one thing after another, each with a pause of its
// own, at whichever door, until they are told to stop. None repeats a write.

type Client = (stage: Stage, ledger: Ledger, random: Random, isOver: () => boolean) => Promise<void>;

/** Runs all clients until the signal; resolves once each has its last answer. */
export async function load(stage: Stage, ledger: Ledger, random: Random, enough: AbortSignal): Promise<void> {
  const { people } = stage;
  const clients = [...people, ...people].map(writes).concat(people.map(changes), people.map(reads));
  const all = [...clients, triggers(people[0]!), revokes, usesRevoked, discovers, ofTenants];
  await Promise.all(all.map((client) => client(stage, ledger, random, () => enough.aborted)));
}

const pause = (random: Random, most: number): Promise<void> => sleep(random.int(most));

function asking(person: Pick<Person, "key">, ledger: Ledger, more = (_: string): void => undefined): Asker {
  return new Asker(person.key, ledger.problem, (what) => {
    ledger.count(what);
    more(what);
  });
}

/** The word for a write, by its answer. */
function outcomeOf(said: Said): "done" | Said["outcome"] {
  return said.value === undefined ? said.outcome : "done";
}

function answerOf({ heard, value }: Said): string {
  if (value !== undefined || "lost" in heard) return "";
  return `${heard.status} ${heard.text.slice(0, 300)}`;
}

const writes =
  (person: Person): Client =>
  async ({ doors }, ledger, random, isOver) => {
    const asker = asking(person, ledger);
    while (!isOver()) {
      const name = `${person.mark} ${ledger.writes.length}-${random.int(1e9)}`;
      const said = await asker.call(random.pick(doors), "core", "create_agent", { name, instructions: "Watch." });
      const { id } = (said.value?.agent ?? {}) as { id?: string };
      ledger.writes.push({ person, name, trace: said.trace, outcome: outcomeOf(said), id, answer: answerOf(said) });
      await pause(random, 120);
    }
    await asker.close();
  };

/** Counts up in an object of its own, and reads what it wrote. */
const changes =
  (person: Person): Client =>
  async ({ doors }, ledger, random, isOver) => {
    const asker = asking(person, ledger);
    let register: Register | undefined;
    while (!isOver()) {
      if (register === undefined) {
        const name = `${person.mark} counter`;
        const { value } = await asker.call(random.pick(doors), "core", "create_agent", {
          name,
          instructions: "Count.",
        });
        const { id } = (value?.agent ?? {}) as { id?: string };
        if (id !== undefined) {
          register = { id, person, done: 0, sent: 0 };
          ledger.registers.push(register);
        }
      } else {
        await countUp(asker, register, random.pick(doors));
        await look(asker, register, random.pick(doors), ledger);
      }
      await pause(random, 120);
    }
    await asker.close();
  };

async function countUp(asker: Asker, register: Register, door: string): Promise<void> {
  register.sent++;
  const args = { agent_id: register.id, description: String(register.sent) };
  const said = await asker.call(door, "core", "update_agent", args);
  if (said.value !== undefined) register.done = register.sent;
  else if (said.outcome === "unchanged") register.sent--;
}

async function look(asker: Asker, { id, done }: Register, door: string, ledger: Ledger): Promise<void> {
  const { value } = await asker.call(door, "core", "get_agent", { agent_id: id });
  if (value === undefined) return;
  const seen = Number((value.agent as { description?: string } | undefined)?.description ?? 0);
  if (seen < done) ledger.problem(`a client that wrote ${done} reads ${seen}`);
}

/** Reads lists and asks who it is; nobody else's rows may be there. */
const reads =
  (person: Person): Client =>
  async ({ doors, people }, ledger, random, isOver) => {
    const asker = asking(person, ledger);
    const others = people.filter((other) => other !== person);
    while (!isOver()) {
      const door = random.pick(doors);
      const [server, tool, args] = random.pick([
        ["core", "list_agents", { page_size: 100 }],
        ["core", "list_runs", { page_size: 50 }],
        ["cti", "whoami", {}],
        ["aev", "whoami", {}],
      ] as const);
      const { heard, value } = await asker.call(door, server, tool, args);
      if (value !== undefined && tool === "whoami" && value.email !== person.email)
        ledger.problem(`${person.email} is told to be ${value.email}`);
      if ("text" in heard)
        for (const { mark } of others)
          if (heard.text.includes(mark))
            ledger.problem(`${tool} of ${person.email} has ${mark}: ${heard.text.slice(0, 300)}`);
      await pause(random, 150);
    }
    await asker.close();
  };

/** Asks for runs; where the answer was lost, asks again under the same request_id. */
const triggers =
  (person: Person): Client =>
  async ({ doors, agent }, ledger, random, isOver) => {
    const asker = asking(person, ledger);
    while (!isOver()) {
      const name = `run-${ledger.runs.length}-${random.int(1e9)}`;
      const run = { person, name, id: undefined as string | undefined };
      ledger.runs.push(run);
      for (let tries = 0; tries < 4 && run.id === undefined; tries++) {
        const args = { agent_id: agent, input: name, request_id: name };
        const { value } = await asker.call(random.pick(doors), "core", "trigger_run", args);
        run.id = (value?.run as { id?: string } | undefined)?.id;
      }
      await pause(random, 900);
    }
    await asker.close();
  };

/** Makes a key, uses it at every door, and revokes it. */
const revokes: Client = async ({ doors, people: [person], admin }, ledger, random, isOver) => {
  const own = asking(person!, ledger);
  const administrator = asking(admin, ledger);
  while (!isOver()) {
    type Made = { key: { id: string }; token: string };
    const made = await own.rpc<Made>(random.pick(doors), "auth.v1.ApiKeyService/CreateApiKey", { name: "Brief" });
    if (made !== undefined) {
      const brief = new Asker(made.token, ledger.problem);
      await Promise.all(doors.map((door) => brief.post(`${door}/mcp/core`, "tools/list")));
      await brief.close();
      const by = random.once(2) ? own : administrator;
      const done = await by.rpc(random.pick(doors), "auth.v1.ApiKeyService/RevokeApiKey", { id: made.key.id });
      if (done !== undefined) ledger.revoked.push(made.token);
    }
    await pause(random, 500);
  }
  await Promise.all([own.close(), administrator.close()]);
};

/** Tries keys that have been revoked, the last ones most. */
const usesRevoked: Client = async ({ doors }, ledger, random, isOver) => {
  while (!isOver()) {
    const { revoked } = ledger;
    const token = random.once(4) ? random.pick(revoked) : revoked.at(-1);
    if (token !== undefined) await Promise.all(doors.map((door) => tryRevoked(token, door, ledger)));
    await pause(random, 60);
  }
};

/** Asks with a revoked key: it must not be served. */
export async function tryRevoked(token: string, door: string, ledger: Ledger): Promise<void> {
  const asker = new Asker(token, ledger.problem);
  const heard = await asker.post(`${door}/mcp/core`, "tools/list", {}, undefined, false);
  if ("status" in heard && heard.status === 200) ledger.problem(`a revoked key is served at ${door}`);
  await asker.close();
}

/** Asks what anybody may ask. */
const discovers: Client = async ({ doors }, ledger, random, isOver) => {
  while (!isOver()) {
    for (const path of ["/healthz", "/.well-known/oauth-protected-resource/mcp/core"]) {
      const reply = await fetch(`${random.pick(doors)}${path}`, { signal: AbortSignal.timeout(12_000) }).catch(
        () => undefined,
      );
      if (reply !== undefined && reply.status !== 200 && reply.status !== 503)
        ledger.problem(`${path}: ${reply.status}`);
      await reply?.arrayBuffer().catch(() => undefined);
    }
    await pause(random, 400);
  }
};

/** An administrator who has several tenants asks for one of them: the answer is of that one. */
const ofTenants: Client = async ({ doors, admin, tenants }, ledger, random, isOver) => {
  const asker = asking(admin, ledger);
  while (!isOver()) {
    const tenant = random.pick(tenants);
    const { value } = await asker.call(random.pick(doors), `grc?tenant=${tenant}`, "list_controls", { page_size: 1 });
    const named = (value?.tenant as { id?: string } | undefined)?.id;
    // While the rights of the caller are not known, results name no tenant.
    if (named !== undefined && named !== tenant) ledger.problem(`asked of tenant ${tenant}, told of ${named}`);
    await pause(random, 300);
  }
  await asker.close();
};
