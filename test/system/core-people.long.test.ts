import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rightArguments } from "./core-people/arguments.js";
import { type Answered, type Ground, PEOPLE } from "./core-people/ground.js";
import { problemsOf } from "./core-people/problems.js";
import { argumentsOf, requiredOf, type Shown } from "./core-people/shown.js";
import { type Core, startCore } from "./core-people/start.js";
import { mayUse } from "./core-people/tiers.js";
import { changesIn, seenBy, type View } from "./core-people/view.js";
import { NO_SUCH, wrongUses } from "./core-people/wrong-uses.js";

// Every tool that tools/list of core shows, used rightly and wrongly by the owner of an object, by three people with whom
// it is shared, and by a stranger. A refusal is a sentence that names nothing which the caller cannot see, and after it
// everything that anybody sees is as before. TOOLS=REGEX takes some of the tools.

/** Arguments of which a made value is refused, by name or by tool and name, and what is said then. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  page_token: /not from this list/,
  company_managed: /only administrators/,
  etag: /changed after you read it/,
  remove_labels: /has no label \w+ to remove/,
  remove_tools: /has no tool \w+ to remove/,
  remove_ask_tools: /has no ask_tools entry \w+ to remove/,
  remove_headers: /has no header \w+ to remove/,
  "create_document.file": /give one of content, file and url/,
  "create_document.url": /give one of content, file and url/,
  "update_document.file": /give one of content, file and url/,
  "create_knowledge_base.embedding_model": /give integration_id too/,
  "test_mcp_server.accept_tools": /without accept_tools to see the waiting tools/,
  "create_prompt.arguments": /the template does not use/,
  "update_prompt.put_arguments": /the template does not use/,
  "update_prompt.remove_arguments": /has no argument \w+ to remove/,
  "update_run.answer": /give either answer, approve or cancel/,
  "update_run.approve": /give either answer, approve or cancel/,
  "update_skill.remove_files": /has no file \w+ to remove/,
  "get_usage.deployment": /only administrators/,
  "get_usage.owner": /only administrators/,
  "inspect_agent_traces.started_before": /later than the start of the period/,
  "get_trace_payload.span_id": /the trace has no span/,
};

let core: Core;
let tools: readonly Shown[];
beforeAll(async () => {
  core = await startCore();
  tools = core.tools.filter(({ name }) => new RegExp(process.env.TOOLS ?? "").test(name));
}, 120_000);
afterAll(() => core?.stop());

test("each tool, as each person, rightly and wrongly", { timeout: 1_800_000 }, async () => {
  const found: string[] = [];
  let [calls, grounds] = [0, 0];
  let ground: Ground | undefined;
  let before: View = new Map();
  for (const tool of tools) {
    for (const who of PEOPLE) {
      if (ground === undefined) {
        ground = await core.ground();
        before = await seenBy(ground, core.tools);
        grounds++;
      }
      const here = ground;
      const say = (what: string, answered: Answered): void =>
        void found.push(`${tool.name} as ${who}, ${what}: ${(answered.refusal || answered.text).slice(0, 400)}`);
      const ask = async (args: JsonObject, what: string): Promise<Answered> => {
        calls++;
        const answered = await here.ask(who, tool.name, args);
        for (const problem of problemsOf(here, who, args, answered)) say(`${what} ${problem}`, answered);
        return answered;
      };
      const ids = tool.annotations.destructiveHint ? ground.loose : ground.shared;
      const right = rightArguments(tool, ids, ground.emails.stranger);
      const unknown = new Map<string, string>();
      for (const { what, args, id } of wrongUses(tool, right, ground)) {
        const answered = await ask(args, what);
        if (answered.result !== undefined) say(`${what} is not refused`, answered);
        if (id === undefined) continue;
        const [name, kind] = what.split(": ") as [string, string];
        const said = answered.refusal.replaceAll(id, "ID");
        if (kind === NO_SUCH) unknown.set(name, said);
        else if (said !== unknown.get(name))
          say(`${what} is told apart from ${NO_SUCH} (${unknown.get(name)})`, answered);
      }
      const writes = !tool.annotations.readOnlyHint;
      const isAllowed = mayUse(tool, who, right);
      if (writes && isAllowed)
        for (const change of changesIn(before, await seenBy(ground, core.tools)))
          found.push(`${tool.name} as ${who}, wrong uses change: ${change}`);
      const answered = await ask(right, "right use");
      if ((answered.result !== undefined) !== isAllowed)
        say(`right use is ${isAllowed ? "" : "not "}refused`, answered);
      if (writes && answered.result !== undefined) {
        if (tool.annotations.destructiveHint) {
          const again = await ask(right, "the second time");
          if (again.result !== undefined) say("the second time is not refused", again);
        }
        ground = undefined;
      } else {
        const changes = changesIn(before, await seenBy(ground, core.tools));
        for (const change of changes) found.push(`${tool.name} as ${who} changes: ${change}`);
        if (changes.length > 0) ground = undefined;
      }
    }
  }
  process.stdout.write(`${tools.length} tools, ${calls} calls, ${grounds} grounds\n${found.join("\n")}\n`);
  expect(found).toEqual([]);
});

test("each argument that a tool does not require, as the owner", { timeout: 900_000 }, async () => {
  const found: string[] = [];
  let ground: Ground | undefined;
  for (const tool of tools.filter(({ annotations }) => !annotations.destructiveHint)) {
    ground ??= await core.ground();
    for (const [name] of argumentsOf(tool)) {
      if (requiredOf(tool).includes(name)) continue;
      const args = rightArguments(tool, ground.shared, ground.emails.stranger, name);
      const { refusal, text, result } = await ground.ask("owner", tool.name, args);
      const refused = REFUSED[`${tool.name}.${name}`] ?? REFUSED[name];
      if (refused === undefined ? result !== undefined : refused.test(refusal)) continue;
      found.push(`${tool.name} ${JSON.stringify({ [name]: args[name] })}: ${(refusal || text).slice(0, 300)}`);
    }
    if (!tool.annotations.readOnlyHint) ground = undefined;
  }
  process.stdout.write(`${found.join("\n")}\n`);
  expect(found).toEqual([]);
});

test("who may change an object may not share it: that needs the manage tier", { timeout: 300_000 }, async () => {
  const found: string[] = [];
  const ground = await core.ground();
  const sharing = core.tools.filter(({ inputSchema }) => inputSchema.properties?.share !== undefined);
  expect(sharing.length).toBeGreaterThan(7);
  for (const tool of sharing) {
    for (const who of ["stranger", "view", "config", "manage"] as const) {
      for (const more of ["share", "unshare"]) {
        const args = rightArguments(tool, ground.shared, ground.emails.stranger, more);
        const { result, refusal } = await ground.ask(who, tool.name, args);
        if ((result !== undefined) !== (who === "manage")) found.push(`${tool.name} ${more} as ${who}: ${refusal}`);
      }
    }
  }
  expect(found).toEqual([]);
});
