import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { inTenant, personOf, type Stage } from "../stage.js";
import { admin, at, madeBy, WRITERS } from "./writes.js";

// What becomes of changes of one object that come at once: the platform empties
// what a write leaves out.

type Ask = (tool: string, args: object) => Promise<Row>;

const askAs =
  (stage: Stage, person: string): Ask =>
  (tool, args) =>
    personOf(stage, person).get<Row>(tool, { ...inTenant(stage, person), ...args });

const raced = (tool: string, prove: (stage: Stage, person: string, ask: Ask) => Promise<void>): Truth<Stage> => ({
  tool,
  cases: [
    {
      about: "raced: of changes at once none undoes another",
      as: WRITERS,
      prove: (stage, person) => prove(stage, person, askAs(stage, person)),
    },
  ],
});

/** Tools that change an object that they read before. */
export const racedTruths: readonly Truth<Stage>[] = [
  raced("update_scenario", async (stage, person, ask) => {
    const scenario_id = await madeBy(stage, person);
    const name = `Named at once ${stage.world.run}`;
    await Promise.all([
      ask("update_scenario", { scenario_id, name }),
      ask("update_scenario", { scenario_id, description: "Described at once" }),
      ask("update_scenario", { scenario_id, category: "lateral-movement" }),
    ]);
    expect(await admin(stage, "GET", at(stage, person, `/scenarios/${scenario_id}`))).toMatchObject({
      scenario_name: name,
      scenario_description: "Described at once",
      scenario_category: "lateral-movement",
    });
  }),
  raced("update_asset_group", async (stage, person, ask) => {
    const { asset_group } = await ask("create_asset_group", { name: `Raced ${stage.world.run}` });
    const { id: asset_group_id } = asset_group as Row;
    const name = `Named at once ${stage.world.run}`;
    await Promise.all([
      ask("update_asset_group", { asset_group_id, name }),
      ask("update_asset_group", { asset_group_id, description: "Described at once" }),
    ]);
    const kept = await admin(stage, "GET", at(stage, person, `/asset_groups/${asset_group_id}`));
    expect(kept).toMatchObject({ asset_group_name: name, asset_group_description: "Described at once" });
    await ask("delete_asset_group", { asset_group_id });
  }),
  raced("set_inject_enabled", async (stage, person, ask) => {
    const scenario_id = await madeBy(stage, person);
    const { injector_contracts } = await ask("list_injector_contracts", { page_size: 1 });
    const [contract] = injector_contracts as Row[];
    const made = await ask("create_inject", { scenario_id, title: "Raced", injector_contract_id: contract!.id });
    const { id: inject_id } = made.inject as Row;
    await Promise.all([
      ask("set_inject_enabled", { inject_id, enabled: false }),
      ask("update_inject", { inject_id, title: "Titled at once" }),
      ask("update_inject", { inject_id, description: "Described at once" }),
    ]);
    expect(await admin(stage, "GET", at(stage, person, `/injects/${inject_id}`))).toMatchObject({
      inject_enabled: false,
      inject_title: "Titled at once",
      inject_description: "Described at once",
    });
  }),
  raced("set_variable", async (stage, person, ask) => {
    const scenario_id = await madeBy(stage, person);
    const said = await Promise.all(
      ["a", "b", "c", "d", "e"].map((value) => ask("set_variable", { scenario_id, key: "raced", value })),
    );
    expect(said.filter(({ created }) => created === true)).toHaveLength(1);
    expect(await admin(stage, "GET", at(stage, person, `/scenarios/${scenario_id}/variables`))).toHaveLength(1);
  }),
];
