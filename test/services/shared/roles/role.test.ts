import { expect, test } from "vitest";
import { visibleTools } from "../../../../services/catalogue/visibility.js";
import { capabilitiesOf as aevCapabilities } from "../../../../services/platform-proxy/platforms/aev/adapter.js";
import { capabilitiesOf as ctiCapabilities } from "../../../../services/platform-proxy/platforms/cti/adapter.js";
import { PLATFORMS } from "../../../../services/shared/platforms.js";
import { type Role, rightsOf, wordsOf } from "../../../../services/shared/roles/role.js";
import type { Caller } from "../../../../services/shared/rpc/call.js";
import { readImage } from "../../../../services/shared/tools/image.js";
import { leftOutBy, type Narrowing, toolsetsOf, WHOLE } from "../../../../services/shared/tools/narrowing.js";
import { readTools } from "../../../../services/shared/tools/tools.js";

// A role opens the tools that it is for: with it all are listed, and with one right less, fewer.

const tools = readTools(readImage());
const SERVERS = PLATFORMS.map(({ name }) => name);

/** Every toolset of a platform, and all of it, to read and to write. */
const narrowings = SERVERS.flatMap((server) => {
  const own = tools.filter((tool) => tool.server === server);
  return [undefined, ...toolsetsOf(own)].flatMap((toolset) =>
    [true, false].map((readOnly) => {
      const narrowing: Narrowing = {
        ...WHOLE,
        readOnly,
        toolsets: toolset === undefined ? undefined : new Set([toolset]),
      };
      return [`${server} ${toolset ?? "all"}${readOnly ? ", to read" : ""}`, server, narrowing] as const;
    }),
  );
});

/** What the catalogue hears of somebody with these rights and no others, as each adapter says it. */
function saidOf(server: string, rights: readonly string[]): ReadonlySet<string> {
  if (server === "cti") return new Set(ctiCapabilities({ capabilities: rights.map((name) => ({ name })) as never }));
  if (server === "aev") {
    const user = { user_email: "a@example.org", user_capabilities: rights, user_grants: {} };
    return new Set(aevCapabilities({ user, tenants: [] } as never));
  }
  const held = new Set(rights);
  if (held.has("change_appliedcontrol") || held.has("change_requirementassessment")) held.add("attach_evidence");
  return held;
}

/** What the platform keeps of a role of which these boxes are ticked. */
function heldBy({ server, rights }: Role, ticked: readonly string[]): string[] {
  const implied = ticked.flatMap((id) => wordsOf(server).rights[id]?.implies ?? []);
  return [...new Set([...ticked, ...implied])].filter((id) => rights.some((right) => right.id === id));
}

const tickedOf = ({ rights }: Role) => rights.filter(({ impliedBy }) => impliedBy === undefined).map(({ id }) => id);

function listed(server: string, narrowing: Narrowing, { scopes }: Role, rights: readonly string[]): string[] {
  const own = tools.filter((tool) => tool.server === server && leftOutBy(tool, narrowing) === undefined);
  const caller = { scopes: new Set(scopes) } as unknown as Caller;
  return visibleTools(own, caller, saidOf(server, rights)).listed.map(({ name }) => name);
}

test.each(narrowings)("%s: the role lists every tool", (_, server, narrowing) => {
  const role = rightsOf(server, tools, narrowing);
  expect(listed(server, narrowing, role, heldBy(role, tickedOf(role)))).toEqual(role.tools);
});

test.each(narrowings)("%s: with one right less, tools are missing", (_, server, narrowing) => {
  const role = rightsOf(server, tools, narrowing);
  for (const { id, missing, needing } of withoutEach(role, server, narrowing)) {
    expect(needing.length).toBeGreaterThan(0);
    expect([id, missing.filter((name) => !needing.includes(name))]).toEqual([id, []]);
    const isNamed = tools.some(({ name, needs }) => needing.includes(name) && needs.includes(id));
    if (isNamed) expect([id, missing.length]).not.toEqual([id, 0]);
  }
});

/** What is missing of the list without each box of a role. */
function withoutEach(role: Role, server: string, narrowing: Narrowing) {
  return tickedOf(role).map((id) => {
    const rest = role.rights.map((right) => right.id).filter((one) => one !== id);
    const seen = listed(server, narrowing, role, rest);
    const needing = role.rights.find((right) => right.id === id)?.tools ?? [];
    return { id, needing, missing: role.tools.filter((name) => !seen.includes(name)) };
  });
}

test("few rights hide no tool: without them a tool finds fewer objects, or refuses some arguments", () => {
  const quiet = narrowings.flatMap(([, server, narrowing]) =>
    withoutEach(rightsOf(server, tools, narrowing), server, narrowing)
      .filter(({ missing }) => missing.length === 0)
      .map(({ id }) => id),
  );
  expect([...new Set(quiet)].toSorted()).toEqual([
    // Findings of what one may see are listed, too.
    "ACCESS_FINDINGS",
    "add_evidencerevision",
    // Evidence is attached to controls and to requirements: either lists the tool.
    "change_appliedcontrol",
    "change_requirementassessment",
    "view_appliedcontrol",
    "view_compliance_assessment_full",
    "view_folder",
    // Which losses are stale.
    "view_quantitativeriskhypothesis",
    "view_requirementassessment",
  ]);
});

test("the union of some toolsets has the boxes of all of them, and no box that another ticks", () => {
  const of = (...toolsets: string[]) => rightsOf("aev", tools, { ...WHOLE, toolsets: new Set(toolsets) });
  expect(tickedOf(of("asset", "payload"))).toEqual([...tickedOf(of("asset")), ...tickedOf(of("payload"))]);
  expect(tickedOf(of("scenario", "inject"))).toEqual(["DELETE_ASSESSMENT", "LAUNCH_ASSESSMENT"]);
  expect(of("asset").rights.map(({ id, impliedBy }) => [id, impliedBy])).toEqual([
    ["ACCESS_ASSETS", "DELETE_ASSETS"],
    ["MANAGE_ASSETS", "DELETE_ASSETS"],
    ["DELETE_ASSETS", undefined],
  ]);
});

test("what is excluded needs nothing", () => {
  const excluded = new Set(["delete_container", "delete_entity", "delete_indicator", "delete_observable"]);
  expect(tickedOf(rightsOf("cti", tools, { ...WHOLE, excluded }))).toEqual(["KNOWLEDGE_KNUPDATE_KNMERGE"]);
});

test("an administrator finds every right that a tool needs by its label, but for those that have no box", () => {
  const rights = SERVERS.flatMap((server) => rightsOf(server, tools, WHOLE).rights);
  expect(rights.filter(({ label }) => label === undefined).map(({ id }) => id)).toEqual([
    "MANAGE_FINDINGS",
    "DELETE_FINDINGS",
    "view_securityadvisory",
  ]);
  const fix = "add the words that the platform shows for it to services/shared/roles";
  expect(
    rights.filter(({ id, label }) => label === id).map(({ id }) => id),
    fix,
  ).toEqual([]);
});

test("no platform has words for a right that no tool needs; one without words is shown by its id", () => {
  for (const server of SERVERS) {
    const used = rightsOf(server, tools, WHOLE).rights.map(({ id }) => id);
    expect(Object.keys(wordsOf(server).rights).filter((id) => !used.includes(id))).toEqual([]);
  }
  const tool = { ...tools.find(({ name }) => name === "list_reports")!, needs: ["EXPLORE"] };
  const { rights } = rightsOf("cti", [tool], WHOLE);
  expect(rights).toEqual([{ id: "EXPLORE", label: "EXPLORE", under: [], tools: ["list_reports"] }]);
});

test("what our own words for rights stand for is said, and they are no boxes", () => {
  for (const { name, rights = {} } of PLATFORMS) {
    const { meets, rights: boxes } = wordsOf(name);
    for (const word of Object.keys(rights)) {
      expect([name, word, meets[word]?.every((right) => right in boxes)]).toEqual([name, word, true]);
      expect(boxes[word]).toBeUndefined();
    }
  }
});

test("a server without a platform has scopes and no rights", () => {
  const { scopes, rights, tools: own } = rightsOf("core", tools, WHOLE);
  expect(scopes).toEqual(["core:read", "core:write"]);
  expect(rights).toEqual([]);
  expect(own.length).toBeGreaterThan(60);
  expect(rightsOf("core", tools, { ...WHOLE, readOnly: true }).scopes).toEqual(["core:read"]);
});
