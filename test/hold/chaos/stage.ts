import { setTimeout as sleep } from "node:timers/promises";
import { results, startModel } from "../../services/core-objects/runs/model-server.js";
import { Asker } from "./asking.js";
import type { Deployment } from "./deployments.js";
import type { Ledger, Person } from "./ledger.js";

/** What clients need of a deployment. */
export interface Stage {
  readonly doors: readonly string[];
  readonly admin: Person;
  /** Who writes and reads; none sees what is another's. */
  readonly people: readonly Person[];
  /** The first one's, whose runs call a tool once. */
  readonly agent: string;
  /** Of the administrator, on grc. */
  readonly tenants: readonly string[];
  close(): Promise<void>;
}

/** Has a second person of the built-in platforms. */
const SECOND = "planner@sallyport.example";

/** Makes people, an agent, its model and its tool, which counts in the ledger how often it is called for each run. */
export async function prepare({ bootstrap, doors }: Deployment, ledger: Ledger): Promise<Stage> {
  const model = await startModel(
    async (asked) => {
      await sleep(Math.random() * 300);
      const run = asked.messages.find(({ role }) => role === "user")?.content ?? "";
      return results(asked).length > 0 ? "Done." : { call: "custom__record", args: { run } };
    },
    (_request, body, response) => {
      const { run } = JSON.parse(body) as { run: string };
      ledger.executed.set(run, (ledger.executed.get(run) ?? 0) + 1);
      setTimeout(() => response.end("recorded"), Math.random() * 200);
    },
  );
  const [door] = doors as [string];
  const admin = { ...bootstrap.admin, key: bootstrap.admin.api_key, mark: "of-admin" };
  const asker = new Asker(admin.key, ledger.problem);
  await must(() => asker.rpc(door, "catalogue.v1.SettingService/UpdateSettings", { core: true }));
  await must(() => asker.rpc(door, "auth.v1.UserService/CreateUser", { email: SECOND, name: "Second" }));
  const made = await must(() =>
    asker.rpc<{ token: string }>(door, "auth.v1.ApiKeyService/CreateApiKey", { userEmail: SECOND, name: "Load" }),
  );
  const people = [
    { ...bootstrap.analyst, key: bootstrap.analyst.api_key, mark: "of-the-first" },
    { email: SECOND, key: made.token, mark: "of-the-second" },
  ];
  const first = new Asker(people[0]!.key, ledger.problem);
  const call = async <T>(who: Asker, server: string, name: string, args: object = {}): Promise<T> =>
    must(async () => (await who.call(door, server, name, args)).value as T | undefined);
  const { integration } = await call<{ integration: { id: string } }>(first, "core", "create_integration", {
    ...{ name: "Models", type: "openai", endpoint: `${model.url}/v1`, models: ["large"] },
  });
  const { custom_tool: tool } = await call<{ custom_tool: { id: string } }>(first, "core", "create_custom_tool", {
    ...{ name: "record", description: "Records.", method: "post", url: `${model.url}/` },
    input_schema: { type: "object", properties: { run: { type: "string" } } },
  });
  const { agent } = await call<{ agent: { id: string } }>(first, "core", "create_agent", {
    ...{ name: "Recorder", instructions: "Record.", resource_ids: [integration.id, tool.id] },
  });
  const { tenants } = await call<{ tenants: { id: string }[] }>(asker, "grc", "list_tenants");
  await Promise.all([asker.close(), first.close()]);
  return { doors, admin, people, agent: agent.id, tenants: tenants.map(({ id }) => id), close: () => model.close() };
}

/** Asks until there is an answer: right after the start a process may not know all others yet. */
async function must<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; ; tries++) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (tries === 20) throw new Error(`the deployment does not answer: ${ask}`);
    await sleep(500);
  }
}
