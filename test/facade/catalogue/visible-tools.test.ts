import { expect, test } from "vitest";
import {
  EndpointService,
  type ListVisibleToolsRequestSchema,
  type ListVisibleToolsResponseSchema,
} from "#proto/catalogue/v1/endpoint_service_pb.js";
import type { ListOptions } from "../../../facade/catalogue/endpoint-query.js";
import { serversOf } from "../../../facade/catalogue/servers.js";
import { createVisibleTools } from "../../../facade/catalogue/visible-tools.js";
import type { CredentialsEvent } from "../../../services/shared/credentials/credentials.js";
import { silentLog } from "../../../services/shared/process/log.js";
import type { Caller } from "../../../services/shared/rpc/call.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { unary } from "../../../services/shared/rpc/method.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";

// What callers see through URLs that nobody used before, and what one who uses many costs the others.

const servers = serversOf(readTools(readImage()), "Sallyport", "1");
const own = servers.get("grc")!;
const names = own.tools.map(({ tool }) => tool.name);

const callerOf = (id: string): Caller => ({
  id,
  email: `${id}@example.org`,
  name: id,
  admin: false,
  groups: [],
  scopes: new Set(["account", "delegated", "internal"]),
  keyId: id,
  service: false,
});
const knownOf = (id: string) => ({
  caller: callerOf(id),
  assertions: { catalogue: id },
  resource: undefined,
  expiresAt: Number.POSITIVE_INFINITY,
});

type Answer = Parameters<typeof unary<typeof ListVisibleToolsRequestSchema, typeof ListVisibleToolsResponseSchema>>[1];
const NOTHING = { tools: [], unlisted: [], keepMs: 60_000 };

/** Visible tools of a catalogue that answers so, and a way to tell them of events. */
function told(answer: Answer) {
  let tell: (event: CredentialsEvent) => void = () => undefined;
  const tools = createVisibleTools({
    dispatch: mountInProcess([unary(EndpointService.method.listVisibleTools, answer)], {
      authenticator: { authenticate: ({ assertion = "" }) => ({ caller: callerOf(assertion), assertion }) },
      log: silentLog,
    }),
    credentials: {
      leased: () => true,
      onEvent: (listener) => {
        tell = (event) => void listener(event);
        return () => undefined;
      },
    },
    servers,
  });
  return { tools, tell: (event: CredentialsEvent) => tell(event) };
}

const visible = () => told(() => ({ ...NOTHING, tools: names })).tools;

const optionsOf = (query: string): ListOptions => {
  const options = own.readQuery(query);
  if ("status" in options) throw new Error(options.message);
  return options;
};

/** Queries that each leave out others of the tools. */
const queries = (count: number): ListOptions[] =>
  Array.from({ length: count }, (_, i) => {
    const excluded = names.filter((_, at) => (i + 1) & (1 << (at % 10)));
    return optionsOf(`exclude=${excluded.join(",")}`);
  });

test("callers who see the same tools share one list, whatever queries another caller makes up", async () => {
  const tools = visible();
  const [ana, bo, mallory] = [knownOf("ana"), knownOf("bo"), knownOf("mallory")];
  const everything = optionsOf("");
  const shared = await tools.of(ana, "grc", everything);
  for (const options of queries(600)) await tools.of(mallory, "grc", options);
  expect(await tools.of(bo, "grc", everything)).toBe(shared);
  expect(await tools.of(ana, "grc", everything)).toBe(shared);
});

test("a caller's seventeenth query is answered like the first", async () => {
  const tools = visible();
  const ana = knownOf("ana");
  for (const options of [...queries(40), ...queries(40)]) {
    const left = names.filter((name) => !options.excluded.has(name));
    const view = await tools.of(ana, "grc", options);
    expect([...view.tools.keys()]).toEqual(left);
    const { result } = JSON.parse(view.list("modern").with(1).toString()) as { result: { tools: { name: string }[] } };
    expect(result.tools.map(({ name }) => name)).toEqual(left);
  }
});

test("an event drops the lists that it is about, and no others", async () => {
  const asked: string[] = [];
  const { tools, tell } = told(({ server }, { caller }) => {
    asked.push(`${caller.id} ${server}`);
    return NOTHING;
  });
  const people = [knownOf("ana"), knownOf("bo")];
  const askedAfter = async (event: CredentialsEvent): Promise<readonly string[]> => {
    for (const one of people) for (const server of ["cti", "core"]) await tools.of(one, server, optionsOf(""));
    asked.length = 0;
    tell(event);
    for (const one of people) for (const server of ["cti", "core"]) await tools.of(one, server, optionsOf(""));
    return asked;
  };
  expect(await askedAfter({ kind: "key", id: "ana" })).toEqual([]);
  expect(await askedAfter({ kind: "reach", id: "ana" })).toEqual(["ana core"]);
  expect(await askedAfter({ kind: "reach", id: "everyone" })).toEqual(["ana core", "bo core"]);
  expect(await askedAfter({ kind: "user", id: "bo" })).toEqual(["bo cti", "bo core"]);
  expect(await askedAfter({ kind: "setting", id: "switches" })).toHaveLength(4);
  expect(await askedAfter({ kind: "reset", id: "" })).toHaveLength(4);
});

test("what is asked while an event comes is kept, but for those whom the event is about", async () => {
  let asked = 0;
  let answer: () => void = () => undefined;
  const { tools, tell } = told(async () => {
    asked++;
    await new Promise<void>((resolve) => {
      const before = answer;
      answer = () => {
        before();
        resolve();
      };
    });
    return NOTHING;
  });
  const [ana, bo] = [knownOf("ana"), knownOf("bo")];
  const see = (one: typeof ana) => Promise.resolve(tools.of(one, "core", optionsOf("")));
  const before = [see(ana), see(bo)];
  tell({ kind: "reach", id: "ana" });
  // She asks again after the event: what was asked before it is not her answer.
  const after = see(ana);
  await expect.poll(() => asked).toBe(3);
  answer();
  await Promise.all([...before, after]);
  await Promise.all([see(ana), see(bo)]);
  expect(asked).toBe(3);
});
