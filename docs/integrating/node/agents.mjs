// Lists agents page by page, creates an agent once, shows two refusals, and reads a stream.
import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { ScenarioService } from "@sallyport/client/aev/v1/scenario_service";
import { connectClient } from "@sallyport/client/connect";
import { AgentService } from "@sallyport/client/core/v1/agent_service";
import { everyItem } from "@sallyport/client/pages";

// [connect]
const baseUrl = process.env.SALLYPORT_GRPC_URL; // https: TLS; http: none, only on the same machine
const apiKey = process.env.SERVICE_API_KEY;
const agents = connectClient(AgentService, { baseUrl, apiKey, protocol: "grpc", timeoutMs: 10_000 });

// [pages]
async function allAgents() {
  const found = [];
  const each = everyItem(
    (pageToken) => agents.listAgents({ pageSize: 2, pageToken }),
    (page) => page.agents,
  );
  for await (const agent of each) found.push(agent);
  return found;
}

// [once]
async function createOnce(name, requestId) {
  const { agent } = await agents.createAgent({ name, requestId }, { timeoutMs: 5_000 });
  return agent;
}

// [errors]
async function refusal(client, request) {
  try {
    await client.listAgents(request);
    return "OK";
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    return `${nameOf(code)} ${rawMessage}`;
  }
}

// [stream]
async function launch(scenarioId) {
  const scenarios = connectClient(ScenarioService, { baseUrl, apiKey, protocol: "grpc" });
  for await (const { event } of scenarios.launchScenario({ scenarioId }, { timeoutMs: 60_000 })) {
    return event.case; // or continue until the case is "result"
  }
}

// [end]
/** InvalidArgument is INVALID_ARGUMENT in gRPC's own documents. */
const nameOf = (code) => Code[code].replace(/(?<=.)[A-Z]/g, "_$&").toUpperCase();

const print = (...words) => process.stdout.write(`${words.join(" ")}\n`);

print("agents", (await allAgents()).length);
const requestId = randomUUID();
const first = await createOnce("From Node", requestId);
const again = await createOnce("From Node", requestId);
print("created once", first.id === again.id);
await agents.deleteAgent({ agentId: first.id });
print("refused", await refusal(agents, { pageSize: 1000 }));
print("wrong key", await refusal(connectClient(AgentService, { baseUrl, apiKey: "nothing", protocol: "grpc" }), {}));
// Launching runs real attacks: only if SCENARIO_ID names a scenario.
if (process.env.SCENARIO_ID) print("stream", await launch(process.env.SCENARIO_ID));
process.exit(0);
