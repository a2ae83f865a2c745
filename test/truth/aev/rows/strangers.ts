import { expect } from "vitest";
import { changesBetween } from "../../frame/changes.js";
import type { Truth } from "../../frame/table.js";
import { personOf, refuses, type Stage } from "../stage.js";
import { FIRST } from "../world.js";
import { IGNORED, standing } from "./writes.js";

const scenario = ({ world }: Stage) => ({ scenario_id: world.ids.full! });
const simulation = ({ world }: Stage) => ({ simulation_id: world.ids.running! });

/** Tools that take more than nothing, and what makes a call of each whole. */
const CALLS: Readonly<Record<string, (stage: Stage) => object>> = {
  get_scenario: scenario,
  get_simulation: simulation,
  get_simulation_results: simulation,
  list_injects: scenario,
  create_scenario: ({ world }) => ({ name: `No ${world.run}` }),
  update_scenario: (stage) => ({ ...scenario(stage), description: "No" }),
  delete_scenario: scenario,
  launch_scenario: scenario,
  set_simulation_status: (stage) => ({ ...simulation(stage), status: "paused" }),
};

/** What those meet whom the platform does not know, and who have a grant that is too small. */
export const strangerTruths: readonly Truth<Stage>[] = [
  ...Object.entries(CALLS).map(([tool, args]) => ({
    tool,
    cases: [
      {
        about: "tells who has no account so, and changes nothing",
        as: ["stranger"],
        async prove(stage: Stage, person: string) {
          const before = await standing(stage);
          await refuses(stage, person, tool, args(stage), /no account|unknown tool/);
          expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([]);
        },
      },
    ],
  })),
  {
    tool: "set_simulation_status",
    cases: [
      {
        about: "does for who may launch a scenario what the platform does for them",
        as: ["launcher"],
        async prove(stage, person) {
          const { platform, world } = stage;
          const admin = world.emails.administrator!;
          const at = `/api/tenants/${FIRST}`;
          const started = `${at}/scenarios/${world.ids.twin0}/exercise/running`;
          const [id, direct] = [
            (await platform.need(admin, "POST", started, {})).exercise_id,
            (await platform.need(admin, "POST", started, {})).exercise_id,
          ];
          const body = { exercise_status: "CANCELED" };
          const { status } = await platform.call(
            world.emails[person]!,
            "PUT",
            `${at}/exercises/${direct}/status`,
            body,
          );
          const { refusal } = await personOf(stage, person).ask("set_simulation_status", {
            simulation_id: id,
            status: "canceled",
          });
          const now = await platform.need(admin, "GET", `${at}/exercises/${id}`);
          expect([refusal === "", now.exercise_status === "CANCELED"]).toEqual([status === 200, status === 200]);
          if (status !== 200) expect(refusal).toMatch(/LAUNCH_ASSESSMENT|there is no/);
        },
      },
    ],
  },
  {
    tool: "delete_scenario",
    cases: [
      {
        about: "does for who may launch a scenario what the platform does for them",
        as: ["launcher"],
        async prove(stage, person) {
          const { platform, world } = stage;
          const path = (key: string) => `/api/tenants/${FIRST}/scenarios/${world.ids[key]}`;
          const { status } = await platform.call(world.emails[person]!, "DELETE", path("doomed1"));
          const before = await standing(stage);
          const args = { scenario_id: world.ids.doomed0! };
          const { refusal } = await personOf(stage, person).ask("delete_scenario", args);
          const gone = status < 300 ? [`-${world.ids.doomed0}`] : [];
          expect(changesBetween(before, await standing(stage), IGNORED)).toEqual(gone);
          expect(refusal === "").toBe(status < 300);
        },
      },
    ],
  },
];
