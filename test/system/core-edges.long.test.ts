import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FAULTS } from "../truth/from-tools-list/edges.js";
import { idArgumentsOf, idIn, rightArguments } from "./core-people/arguments.js";
import { type EdgeUse, edgeUses } from "./core-people/edge-uses.js";
import { type Answered, type Ground, type Ids, PEOPLE, type Person } from "./core-people/ground.js";
import { problemsOf, withoutSent } from "./core-people/problems.js";
import type { Shown } from "./core-people/shown.js";
import { type Core, startCore } from "./core-people/start.js";
import { mayUse } from "./core-people/tiers.js";
import { changesIn, seenBy } from "./core-people/view.js";
import { UNKNOWN_IDS } from "./core-people/wrong-uses.js";

// Every argument of every tool of core at its edges, as the owner, three people with whom an object is shared, and a
// stranger. A call about an object that its caller cannot see is answered word for word like one about an object that does
// not exist, a refusal changes nothing, and no answer has words of the program. TOOLS=REGEX takes some of the tools.

/** How long a call may take on a machine that does other work, in milliseconds. */
const SLOW_MS = 5_000;

let core: Core;
let tools: readonly Shown[];
beforeAll(async () => {
  core = await startCore();
  tools = core.tools.filter(({ name }) => new RegExp(process.env.TOOLS ?? "").test(name));
}, 120_000);
afterAll(() => core?.stop());

/** Tools that take an object which their caller cannot see, and why. */
const TAKEN: Readonly<Record<string, string>> = {
  "inspect_agent_traces mine=true": "the caller's own traces of any agent, which are none",
};

/** Tokens of the second pages of lists other than this one. */
async function tokensIn(ground: Ground, { name }: Shown): Promise<string[]> {
  const lists = ["list_agents", "list_variables", "list_runs"].filter((list) => list !== name);
  const pages = await Promise.all(lists.map((list) => ground.ask("owner", list, { page_size: 1 })));
  return pages.map(({ result }) => result?.next_page_token as string);
}

/** The same call about other objects; undefined if the edge itself is an id. */
function aboutOthers(tool: Shown, { name, args }: EdgeUse, ids: Ids): { args: JsonObject; id: string } | undefined {
  const taken = idArgumentsOf(tool).find((one) => one.name !== name && one.name in args);
  if (taken === undefined) return undefined;
  const id = idIn(taken, ids);
  return { args: { ...args, [taken.name]: id }, id: [id].flat()[0] as string };
}

test("every argument at its edges, as each person", { timeout: 3_600_000 }, async () => {
  const found: string[] = [];
  let [calls, taken] = [0, 0];
  const read = await core.ground();
  for (const tool of tools) {
    const isRead = tool.annotations.readOnlyHint;
    const ground = isRead ? read : await core.ground();
    const tokens = await tokensIn(ground, tool);
    const usesOf = (on: Ground): EdgeUse[] =>
      edgeUses(tool, rightArguments(tool, on.shared, on.emails.stranger), on.shared, tokens);
    const ask = async (on: Ground, who: Person, use: EdgeUse, args: JsonObject = use.args): Promise<Answered> => {
      calls++;
      const began = performance.now();
      const answered = await on.ask(who, tool.name, args);
      const { refusal, result } = answered;
      const problems = problemsOf(on, who, args, answered);
      if (result === undefined && FAULTS.test(withoutSent(refusal, args))) problems.push("has a fault");
      if (performance.now() - began > SLOW_MS) problems.push("is slow");
      for (const problem of problems)
        found.push(`${tool.name} as ${who}, ${use.what} ${problem}: ${(refusal || answered.text).slice(0, 300)}`);
      return answered;
    };
    const before = await seenBy(ground, core.tools);
    // From whom may do nothing to the owner, who may do all, so that only the last look finds changes.
    for (const who of [...PEOPLE].reverse()) {
      const isAllowed = mayUse(tool, who, rightArguments(tool, ground.shared, ground.emails.stranger));
      if (isAllowed && !isRead) continue;
      for (const use of usesOf(ground)) {
        const { result } = await ask(ground, who, use);
        if (result !== undefined) taken++;
        const isOfOther = idArgumentsOf(tool).some(({ name }) => name === use.name);
        if (!isAllowed && !isOfOther && result !== undefined && TAKEN[`${tool.name} ${use.what}`] === undefined)
          found.push(`${tool.name} as ${who}, ${use.what} is not refused`);
        if (result !== undefined && tokens.includes(use.args.page_token as string))
          found.push(`${tool.name} as ${who} takes a page_token of another list`);
        if (who !== "stranger" && who !== "view") continue;
        const said = await Promise.all(
          [who === "view" ? ground.kept : ground.shared, UNKNOWN_IDS].map(async (ids) => {
            const other = aboutOthers(tool, use, ids);
            if (other === undefined) return "";
            const { refusal, text } = await ask(ground, who, use, other.args);
            return (refusal || text).replaceAll(other.id, "ID");
          }),
        );
        if (said[0] !== said[1])
          found.push(
            `${tool.name} as ${who}, ${use.what} is told apart: ${said[0]?.slice(0, 200)} | ${said[1]?.slice(0, 200)}`,
          );
      }
    }
    for (const change of changesIn(before, await seenBy(ground, core.tools)))
      found.push(`${tool.name}, refused calls change: ${change}`);
    if (isRead) continue;
    // Who may: first to learn which uses are refused, and then those alone, on new objects.
    const refused = new Set<string>();
    for (const use of usesOf(ground)) {
      const { result } = await ask(ground, "owner", use);
      if (result === undefined) refused.add(use.what.replaceAll(/[0-9a-f-]{20,}/gi, "ID"));
      else taken++;
    }
    const fresh = await core.ground();
    const shown = await seenBy(fresh, core.tools);
    let isTaken = false;
    for (const use of usesOf(fresh)) {
      if (!refused.has(use.what.replaceAll(/[0-9a-f-]{20,}/gi, "ID"))) continue;
      const { result } = await ask(fresh, "owner", use);
      // What was refused because an earlier use had changed something.
      isTaken ||= result !== undefined;
    }
    if (isTaken) continue;
    for (const change of changesIn(shown, await seenBy(fresh, core.tools)))
      found.push(`${tool.name} as owner, refused calls change: ${change}`);
  }
  process.stdout.write(`${tools.length} tools, ${calls} calls, ${taken} taken\n${found.join("\n")}\n`);
  expect(calls).toBeGreaterThan(tools.length * 20);
  expect(found).toEqual([]);
});
