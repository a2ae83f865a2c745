import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { beforeEach, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { everyItem } from "../../../clients/node/pages.js";
import { isRepeatable, type Patience, patient } from "../../../clients/node/patience.js";

let asked: number;
let answers: (ConnectError | undefined)[];
beforeEach(() => {
  asked = 0;
});

function agentsOf(patience: Patience = {}) {
  const answer = (): object => {
    const failure = answers[asked++];
    if (failure !== undefined) throw failure;
    return {};
  };
  const transport = createRouterTransport(({ service }) => {
    service(AgentService, { listAgents: answer, createAgent: answer, deleteAgent: answer });
  });
  return createClient(AgentService, patient(transport, patience));
}

const down = new ConnectError("not there", Code.Unavailable);
const soon = new ConnectError("too many calls", Code.ResourceExhausted, { "retry-after": "0" });
const later = new ConnectError("too many calls", Code.ResourceExhausted, { "retry-after": "60" });

test.each([
  ["a read where the service is not there", [down, undefined], (c: Client) => c.listAgents({}), 2, undefined],
  ["a read after the wait that is asked for", [soon, undefined], (c: Client) => c.listAgents({}), 2, undefined],
  ["a read twice at most", [down, down, down], (c: Client) => c.listAgents({}), 3, Code.Unavailable],
  ["not after a long wait", [later], (c: Client) => c.listAgents({}), 1, Code.ResourceExhausted],
  ["what has a request_id", [down, undefined], (c: Client) => c.createAgent({ requestId: "r" }), 2, undefined],
  ["not what has none", [down], (c: Client) => c.createAgent({}), 1, Code.Unavailable],
  ["not a deletion", [down], (c: Client) => c.deleteAgent({ agentId: "a" }), 1, Code.Unavailable],
  ["not what is wrong", [new ConnectError("", Code.InvalidArgument)], (c: Client) => c.listAgents({}), 1, 3],
])("made again is %s", async (_what, said, call, times, code) => {
  answers = said;
  const failure = await call(agentsOf()).then(
    () => undefined,
    (error: unknown) => ConnectError.from(error).code,
  );
  expect([asked, failure]).toEqual([times, code]);
});

type Client = ReturnType<typeof agentsOf>;

test("no repetition outlasts the deadline, nor an abort", async () => {
  answers = [down, undefined];
  await expect(agentsOf({ timeoutMs: 50 }).listAgents({})).rejects.toMatchObject({ code: Code.Unavailable });
  expect(asked).toBe(1);
  asked = 0;
  const gone = AbortSignal.timeout(20);
  await expect(agentsOf().listAgents({}, { signal: gone })).rejects.toBeInstanceOf(ConnectError);
  expect(asked).toBe(1);
});

test("which methods may be repeated is theirs to say", () => {
  const { getAgent, updateAgent, deleteAgent } = AgentService.method;
  expect([getAgent, updateAgent, deleteAgent].map((method) => isRepeatable(method, {}))).toEqual([true, true, false]);
});

test("every item comes, page by page, and no page is asked for that nobody needs", async () => {
  const pages = [{ items: [1, 2], nextPageToken: "b" }, { items: [], nextPageToken: "c" }, { items: [3] }];
  const tokens: string[] = [];
  const list = async (token: string) => pages[tokens.push(token) - 1] as (typeof pages)[number];
  const all: number[] = [];
  for await (const item of everyItem(list, ({ items }) => items)) all.push(item);
  expect(all).toEqual([1, 2, 3]);
  expect(tokens).toEqual(["", "b", "c"]);
  tokens.length = 0;
  for await (const item of everyItem(list, ({ items }) => items)) if (item === 2) break;
  expect(tokens).toEqual([""]);
});
