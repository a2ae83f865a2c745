import { expect, test } from "vitest";
import { createOwnTools } from "../../../../services/core-objects/runs/tools/own-tools.js";
import type { Peers } from "../../../../services/shared/rpc/peers.js";
import { readImage } from "../../../../services/shared/tools/image.js";
import { readTools } from "../../../../services/shared/tools/tools.js";

const tools = readTools(readImage());
/** A catalogue that shows everything to everybody. */
const peers = { call: async () => ({ tools: tools.map(({ name }) => name), unlisted: [] }) } as unknown as Peers;
const own = createOwnTools(tools, peers);
const found = async (...patterns: string[]): Promise<string[]> =>
  (await own.matching(patterns, {} as never)).map(({ label }) => label);

test("a star stands for any text, and for nothing that cannot be undone", async () => {
  expect(await found("cti/lookup_*")).toEqual(["cti/lookup_ioc", "cti/lookup_vulnerability"]);
  expect(await found("grc/*_risk_scenario")).not.toContain("grc/delete_risk_scenario");
  expect(await found("grc/*_risk_scenario")).toContain("grc/get_risk_scenario");
  expect(await found("grc/delete_risk_scenario")).toEqual(["grc/delete_risk_scenario"]);
  expect(await found("cti/*ioc*ioc")).toEqual([]);
  expect(await found("cti/l*p_i*c")).toEqual(["cti/lookup_ioc"]);
});

test("a run is given nothing that begins runs, however it is named", async () => {
  const begun = await found("core/*", "core/trigger_run", "core/trigger_assignment");
  expect(begun.filter((name) => name.includes("trigger"))).toEqual([]);
});

test("a pattern of stars alone is matched as fast as any", async () => {
  expect(await found(`cti/${"*".repeat(127)}?`)).toEqual([]);
  expect((await found(`cti/${"*".repeat(128)}`)).length).toBeGreaterThan(50);
});
