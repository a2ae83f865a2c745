import { expect } from "vitest";
import { changesBetween } from "../../frame/changes.js";
import type { Truth } from "../../frame/table.js";
import type { Json } from "../platform.js";
import { inTenant, personOf, refuses, type Stage } from "../stage.js";
import { FIRST } from "../world.js";
import { isInject } from "./runs.js";
import { admin, at, here, IGNORED, madeBy, READERS, standing, WRITERS } from "./writes.js";

const MAIL = "138ad8f8-32f8-4a22-8114-aaa12322bd09";
const MANUAL = "d02e9132-b9d0-4daa-b3b1-4b9871f8472c";

/** A tool that writes. */
interface Change {
  readonly tool: string;
  readonly right: string;
  /** Arguments that whoever may not is refused with, of something in the tenant. */
  readonly of: (stage: Stage, person: string) => object;
  /** Those of something in the other tenant. */
  readonly elsewhere?: (stage: Stage, person: string) => object;
  /** Made for one person, changed by that person's call, and compared. */
  readonly proves: (stage: Stage, person: string, ask: (args: object) => Promise<Json>) => Promise<void>;
  readonly as?: readonly string[];
}

const read = (stage: Stage, person: string, route: string): Promise<Json> =>
  admin(stage, "GET", at(stage, person, route));
const make = (stage: Stage, person: string, route: string, body: object): Promise<Json> =>
  admin(stage, "POST", at(stage, person, route), body);
const gone = async (stage: Stage, person: string, route: string) =>
  expect((await stage.platform.call(stage.world.emails.administrator!, "GET", at(stage, person, route))).status).toBe(
    404,
  );
const there = (first: string, second: string, argument: string) => ({
  of: (stage: Stage, person: string) => ({ [argument]: here(stage, person, first, second) }),
  elsewhere: (stage: Stage, person: string) => ({
    [argument]: stage.world.ids[stage.world.tenantOf(person) === FIRST ? second : first],
  }),
});

const lists = { inject_teams: [], inject_assets: [], inject_asset_groups: [], inject_documents: [], inject_tags: [] };

/** A mail in a scenario of its own, with everything that a change could lose. */
async function mailFor(stage: Stage, person: string): Promise<{ scenario: string; inject: string; team: string }> {
  const scenario = await madeBy(stage, person);
  const { team_id: team } = await make(stage, person, "/teams", {
    team_name: `Team of ${person} ${stage.world.run} ${scenario.slice(0, 8)}`,
  });
  const { inject_id: inject } = await make(stage, person, `/scenarios/${scenario}/injects`, {
    ...lists,
    inject_title: "Warn",
    inject_description: "Why",
    inject_injector_contract: MAIL,
    inject_content: { subject: "S", body: "B", expectations: [] },
    inject_depends_duration: 60,
    inject_teams: [team],
    inject_tags: person === "outsider" ? [stage.world.ids.otherTag] : [stage.world.ids.red],
    inject_all_teams: true,
    inject_country: "FR",
    inject_city: "Paris",
    inject_enabled: true,
  });
  return { scenario, inject, team };
}

/** What an inject has that stays, whatever else is changed; a test's date is when it is asked for. */
const kept = ({ inject_updated_at: _, inject_date: __, inject_injector_contract: contract, ...rest }: Json): Json => ({
  ...rest,
  // In no order.
  inject_contract_domains: JSON.stringify((rest.inject_contract_domains ?? []).map(JSON.stringify).sort()),
  contract: contract?.injector_contract_id,
});

const CHANGES: readonly Change[] = [
  {
    tool: "create_inject",
    right: "MANAGE_ASSESSMENT",
    of: (stage, person) => ({
      scenario_id: here(stage, person, "full", "other0"),
      title: "No",
      injector_contract_id: MANUAL,
    }),
    elsewhere: (stage, person) => ({
      scenario_id: stage.world.ids[stage.world.tenantOf(person) === FIRST ? "other0" : "full"],
      title: "No",
      injector_contract_id: MANUAL,
    }),
    async proves(stage, person, ask) {
      const { scenario, team } = await mailFor(stage, person);
      const args = { scenario_id: scenario, title: " New ", injector_contract_id: MAIL, delay_seconds: 90 };
      const { inject, lacks } = await ask({ ...args, content: { subject: "A", body: "B" }, team_ids: [team] });
      isInject(inject, await read(stage, person, `/injects/${inject.id}`));
      expect(inject).toMatchObject({ title: "New", delay_seconds: 90, enabled: true, teams: [{ id: team }] });
      // The platform warns that it reads no answers to mails, which keeps none from going out.
      expect(lacks ?? []).toEqual([]);
      const bare = await ask({ ...args, content: {} });
      expect(bare.lacks.join(" ")).toMatch(/teams/);
    },
  },
  {
    tool: "update_inject",
    right: "MANAGE_ASSESSMENT",
    of: (stage, person) => ({ inject_id: here(stage, person, "mail", "otherCall"), title: "No" }),
    elsewhere: (stage, person) => ({
      inject_id: stage.world.ids[stage.world.tenantOf(person) === FIRST ? "otherCall" : "mail"],
      title: "No",
    }),
    async proves(stage, person, ask) {
      const { inject } = await mailFor(stage, person);
      const before = kept(await read(stage, person, `/injects/${inject}`));
      const { inject: told } = await ask({ inject_id: inject, title: "Other", content: { subject: "T" } });
      const direct = await read(stage, person, `/injects/${inject}`);
      isInject(told, direct);
      const changes = changesBetween(new Map([["it", before]]), new Map([["it", kept(direct)]]), IGNORED);
      expect(changes).toEqual(["it.inject_content.subject", "it.inject_title"]);
      await ask({ inject_id: inject, clear_teams: true, clear_labels: true });
      expect(await read(stage, person, `/injects/${inject}`)).toMatchObject({
        inject_teams: [],
        inject_tags: [],
        inject_city: "Paris",
      });
    },
  },
  {
    tool: "set_inject_enabled",
    right: "MANAGE_ASSESSMENT",
    ...there("mail", "otherCall", "inject_id"),
    async proves(stage, person, ask) {
      const { inject } = await mailFor(stage, person);
      expect(await ask({ inject_id: inject })).toMatchObject({ changed: true });
      expect((await read(stage, person, `/injects/${inject}`)).inject_enabled).toBe(false);
      expect(await ask({ inject_id: inject, enabled: true })).toMatchObject({ enabled: true, changed: true });
    },
  },
  {
    tool: "duplicate_inject",
    right: "MANAGE_ASSESSMENT",
    ...there("mail", "otherCall", "inject_id"),
    async proves(stage, person, ask) {
      const { inject, scenario } = await mailFor(stage, person);
      const { inject: copy } = await ask({ inject_id: inject });
      expect(copy.id).not.toBe(inject);
      expect(copy.scenario.id).toBe(scenario);
      isInject(copy, await read(stage, person, `/injects/${copy.id}`));
    },
  },
  {
    tool: "delete_inject",
    right: "MANAGE_ASSESSMENT",
    ...there("mail", "otherCall", "inject_id"),
    async proves(stage, person, ask) {
      const { inject, scenario } = await mailFor(stage, person);
      const before = await standing(stage);
      expect(await ask({ inject_id: inject })).toMatchObject({ deleted: { id: inject }, scenario: { id: scenario } });
      await gone(stage, person, `/injects/${inject}`);
      // What a scenario can run on is worked out of its injects.
      expect(changesBetween(before, await standing(stage), [...IGNORED, "scenario_platforms"])).toEqual([]);
    },
  },
  {
    tool: "create_atomic_test",
    right: "MANAGE_ASSESSMENT",
    of: () => ({ title: "No", injector_contract_id: MAIL }),
    async proves(stage, person, ask) {
      const before = await standing(stage);
      const { atomic_test: told } = await ask({
        title: `Test of ${person} ${stage.world.run}`,
        injector_contract_id: MAIL,
        content: { subject: "S", body: "B" },
        description: "Why",
      });
      isInject(told, await read(stage, person, `/injects/${told.id}`));
      expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([`+${told.id}`]);
    },
  },
  {
    tool: "update_atomic_test",
    right: "MANAGE_ASSESSMENT",
    of: (stage, person) => ({ atomic_test_id: here(stage, person, "atomic", "otherAtomic"), description: "No" }),
    elsewhere: (stage, person) => ({
      atomic_test_id: stage.world.ids[stage.world.tenantOf(person) === FIRST ? "otherAtomic" : "atomic"],
      description: "No",
    }),
    async proves(stage, person, ask) {
      const id = await testFor(stage, person);
      const before = kept(await read(stage, person, `/injects/${id}`));
      await ask({ atomic_test_id: id, description: "New" });
      const after = kept(await read(stage, person, `/injects/${id}`));
      const changes = changesBetween(new Map([["it", before]]), new Map([["it", after]]), [...IGNORED, "inject_user"]);
      expect(changes).toEqual(["it.inject_description"]);
    },
  },
  {
    tool: "delete_atomic_test",
    right: "MANAGE_ASSESSMENT",
    ...there("atomic", "otherAtomic", "atomic_test_id"),
    async proves(stage, person, ask) {
      const id = await testFor(stage, person);
      const before = await standing(stage);
      await ask({ atomic_test_id: id });
      expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([`-${id}`]);
    },
  },
  ...(["launch_atomic_test", "relaunch_atomic_test"] as const).map(
    (tool): Change => ({
      tool,
      right: "MANAGE_ASSESSMENT",
      ...there("atomic", "otherAtomic", "atomic_test_id"),
      as: ["analyst"],
      async proves(stage, person, ask) {
        const id = await testFor(stage, person);
        const told = await ask({ atomic_test_id: id });
        expect(told.inject.id === id).toBe(tool === "launch_atomic_test");
        const direct = await read(stage, person, `/injects/status?injectId=${told.inject.id}`);
        expect(direct.status_name).not.toBe("DRAFT");
        if (tool === "relaunch_atomic_test") await gone(stage, person, `/injects/${id}`);
      },
    }),
  ),
  {
    tool: "launch_inject",
    right: "MANAGE_ASSESSMENT",
    ...there("mail", "otherStep", "inject_id"),
    as: ["analyst"],
    async proves(stage, person, ask) {
      const { scenario } = await mailFor(stage, person);
      const { exercise_id: run } = await make(stage, person, `/scenarios/${scenario}/exercise/running`, {});
      const { content } = await make(stage, person, `/exercises/${run}/injects/search`, { size: 10 });
      const told = await ask({ inject_id: content[0].inject_id });
      expect(told.inject.id).toBe(content[0].inject_id);
      expect((await read(stage, person, `/injects/${told.inject.id}`)).inject_trigger_now_date).not.toBeNull();
    },
  },
  {
    tool: "create_payload",
    right: "MANAGE_PAYLOADS",
    of: () => ({ type: "command", name: "No", platforms: ["Linux"], executor: "sh", command: "id" }),
    async proves(stage, person, ask) {
      const before = await standing(stage);
      const { payload } = await ask({
        type: "command",
        name: `Payload of ${person} ${stage.world.run}`,
        platforms: ["Linux", "MacOS"],
        executor: "sh",
        command: "id #{who}",
        arguments: [{ key: "who", default_value: "root" }],
        expectations: ["detection"],
        ...(stage.world.tenantOf(person) === FIRST && { attack_pattern_ids: [stage.world.ids.technique0] }),
      });
      const direct = await read(stage, person, `/payloads/${payload.id}`);
      expect(direct).toMatchObject({
        command_content: "id #{who}",
        payload_expectations: ["DETECTION"],
        payload_status: "UNVERIFIED",
      });
      expect(direct.payload_platforms.sort()).toEqual(["Linux", "MacOS"]);
      expect(payload.injector_contract.id).toBeDefined();
      expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([`+${payload.id}`]);
    },
  },
  {
    tool: "update_payload",
    right: "MANAGE_PAYLOADS",
    of: (stage, person) => ({ payload_id: here(stage, person, "payload0", "otherPayload"), description: "No" }),
    elsewhere: (stage, person) => ({
      payload_id: stage.world.ids[stage.world.tenantOf(person) === FIRST ? "otherPayload" : "payload0"],
      description: "No",
    }),
    async proves(stage, person, ask) {
      const id = await payloadFor(stage, person);
      const before = await read(stage, person, `/payloads/${id}`);
      await ask({ payload_id: id, description: "New" });
      const after = await read(stage, person, `/payloads/${id}`);
      const ignored = [...IGNORED, "payload_updated_at"];
      const changes = changesBetween(new Map([["it", before]]), new Map([["it", after]]), ignored);
      expect(changes).toEqual(["it.payload_description"]);
    },
  },
  {
    tool: "delete_payload",
    right: "DELETE_PAYLOADS",
    ...there("payload0", "otherPayload", "payload_id"),
    async proves(stage, person, ask) {
      const id = await payloadFor(stage, person);
      const before = await standing(stage);
      await ask({ payload_id: id });
      expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([`-${id}`]);
    },
  },
  {
    tool: "create_simulation",
    right: "MANAGE_ASSESSMENT",
    of: () => ({ name: "No" }),
    async proves(stage, person, ask) {
      const before = await standing(stage);
      const { simulation } = await ask({
        name: ` Run of ${person} ${stage.world.run} `,
        description: "Why",
        category: "global-crisis",
      });
      const direct = await read(stage, person, `/exercises/${simulation.id}`);
      expect(direct).toMatchObject({
        exercise_name: simulation.name,
        exercise_description: "Why",
        exercise_category: "global-crisis",
      });
      expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([`+${simulation.id}`]);
    },
  },
  {
    tool: "update_simulation",
    right: "MANAGE_ASSESSMENT",
    of: (stage, person) => ({ simulation_id: here(stage, person, "running", "otherRun"), description: "No" }),
    elsewhere: (stage, person) => ({
      simulation_id: stage.world.ids[stage.world.tenantOf(person) === FIRST ? "otherRun" : "running"],
      description: "No",
    }),
    async proves(stage, person, ask) {
      const id = await runFor(stage, person);
      const before = await read(stage, person, `/exercises/${id}`);
      await ask({ simulation_id: id, description: "New" });
      const after = await read(stage, person, `/exercises/${id}`);
      const changes = changesBetween(new Map([["it", before]]), new Map([["it", after]]), IGNORED);
      expect(changes).toEqual(["it.exercise_description"]);
    },
  },
  {
    tool: "set_simulation_start_date",
    right: "MANAGE_ASSESSMENT",
    ...there("running", "otherPlanned", "simulation_id"),
    async proves(stage, person, ask) {
      const id = await runFor(stage, person);
      await ask({ simulation_id: id, start_at: "2099-01-01T10:00:00Z" });
      expect((await read(stage, person, `/exercises/${id}`)).exercise_start_date).toBe("2099-01-01T10:00:00Z");
      await ask({ simulation_id: id });
      expect((await read(stage, person, `/exercises/${id}`)).exercise_start_date).toBeNull();
    },
  },
  {
    tool: "reset_simulation",
    right: "LAUNCH_ASSESSMENT",
    ...there("running", "otherCanceled", "simulation_id"),
    async proves(stage, person, ask) {
      const id = await runFor(stage, person);
      for (const status of ["RUNNING", "CANCELED"])
        await admin(stage, "PUT", at(stage, person, `/exercises/${id}/status`), { exercise_status: status });
      await ask({ simulation_id: id });
      expect((await read(stage, person, `/exercises/${id}`)).exercise_status).toBe("SCHEDULED");
    },
  },
  {
    tool: "delete_simulation",
    right: "DELETE_ASSESSMENT",
    ...there("running", "otherRun", "simulation_id"),
    async proves(stage, person, ask) {
      const id = await runFor(stage, person);
      const before = await standing(stage);
      await ask({ simulation_id: id });
      expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([`-${id}`]);
    },
  },
  {
    tool: "duplicate_scenario",
    right: "MANAGE_ASSESSMENT",
    ...there("full", "other1", "scenario_id"),
    async proves(stage, person, ask) {
      const { scenario } = await mailFor(stage, person);
      const before = await standing(stage);
      const { scenario: copy } = await ask({ scenario_id: scenario });
      expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([`+${copy.id}`]);
      expect((await read(stage, person, `/scenarios/${copy.id}`)).scenario_name).toBe(copy.name);
    },
  },
  {
    tool: "schedule_scenario",
    right: "LAUNCH_ASSESSMENT",
    of: (stage, person) => ({ scenario_id: here(stage, person, "full", "other1") }),
    elsewhere: (stage, person) => ({
      scenario_id: stage.world.ids[stage.world.tenantOf(person) === FIRST ? "other1" : "full"],
    }),
    async proves(stage, person, ask) {
      const id = await madeBy(stage, person);
      const start_at = "2099-01-01T00:00:00Z";
      await ask({ scenario_id: id, recurrence: "0 0 9 * * MON", start_at });
      const direct = await read(stage, person, `/scenarios/${id}`);
      expect(direct).toMatchObject({ scenario_recurrence: "0 0 9 * * MON", scenario_recurrence_start: start_at });
      await ask({ scenario_id: id });
      expect((await read(stage, person, `/scenarios/${id}`)).scenario_recurrence).toBeNull();
    },
  },
  {
    tool: "set_scenario_teams",
    right: "MANAGE_ASSESSMENT",
    of: (stage, person) => ({ scenario_id: here(stage, person, "full", "other1"), clear_teams: true }),
    elsewhere: (stage, person) => ({
      scenario_id: stage.world.ids[stage.world.tenantOf(person) === FIRST ? "other1" : "full"],
      clear_teams: true,
    }),
    async proves(stage, person, ask) {
      const { scenario, team } = await mailFor(stage, person);
      expect((await ask({ scenario_id: scenario, team_ids: [team] })).teams).toMatchObject([{ id: team }]);
      const direct: Json[] = await read(stage, person, `/scenarios/${scenario}/teams`);
      expect(direct.map((one) => one.team_id)).toEqual([team]);
      await ask({ scenario_id: scenario, clear_teams: true });
      expect(await read(stage, person, `/scenarios/${scenario}/teams`)).toEqual([]);
    },
  },
  {
    tool: "set_variable",
    right: "MANAGE_ASSESSMENT",
    of: (stage, person) => ({ scenario_id: here(stage, person, "full", "other1"), key: "no" }),
    elsewhere: (stage, person) => ({
      scenario_id: stage.world.ids[stage.world.tenantOf(person) === FIRST ? "other1" : "full"],
      key: "no",
    }),
    async proves(stage, person, ask) {
      const scenario_id = await madeBy(stage, person);
      const { variable } = await ask({ scenario_id, key: "town", value: "Berlin", description: "Where" });
      expect(await ask({ scenario_id, key: "town", value: "Paris" })).toMatchObject({ variable: { id: variable.id } });
      const direct: Json[] = await read(stage, person, `/scenarios/${scenario_id}/variables`);
      expect(direct).toMatchObject([
        { variable_id: variable.id, variable_value: "Paris", variable_description: "Where" },
      ]);
    },
  },
  {
    tool: "delete_variable",
    right: "MANAGE_ASSESSMENT",
    of: (stage, person) => ({
      scenario_id: here(stage, person, "full", "other1"),
      variable_id: stage.world.ids.variable,
    }),
    async proves(stage, person, ask) {
      const scenario_id = await madeBy(stage, person);
      const { variable_id } = await make(stage, person, `/scenarios/${scenario_id}/variables`, { variable_key: "a" });
      await ask({ scenario_id, variable_id });
      expect(await read(stage, person, `/scenarios/${scenario_id}/variables`)).toEqual([]);
    },
  },
];

async function testFor(stage: Stage, person: string): Promise<string> {
  const body = {
    ...lists,
    inject_title: `Test for ${person} ${stage.world.run}`,
    inject_description: "Why",
    inject_injector_contract: MAIL,
    inject_content: { subject: "S", body: "B", expectations: [] },
    inject_all_teams: false,
  };
  return (await make(stage, person, "/atomic-testings", body)).inject_id;
}

async function payloadFor(stage: Stage, person: string): Promise<string> {
  const body = {
    payload_type: "Command",
    payload_name: `Payload for ${person} ${stage.world.run}`,
    payload_source: "MANUAL",
    payload_status: "VERIFIED",
    payload_platforms: ["Linux", "Windows"],
    payload_domains: [],
    payload_attack_patterns: [stage.world.ids.technique0],
    command_executor: "sh",
    command_content: "id",
    payload_arguments: [{ type: "text", key: "who", default_value: "root", description: "d" }],
    payload_prerequisites: [{ executor: "sh", get_command: "true", check_command: "true", description: "d" }],
    payload_cleanup_executor: "sh",
    payload_cleanup_command: "true",
  };
  return (await make(stage, person, "/payloads", body)).payload_id;
}

async function runFor(stage: Stage, person: string): Promise<string> {
  const body = {
    exercise_name: `Run for ${person} ${stage.world.run}`,
    exercise_description: "Why",
    exercise_subtitle: "Sub",
    exercise_category: "global-crisis",
    exercise_main_focus: "incident-response",
    exercise_message_header: "HEADER",
    exercise_message_footer: "FOOTER",
    exercise_mails_reply_to: ["desk@example.org"],
  };
  return (await make(stage, person, "/exercises", body)).exercise_id;
}

/** Tools that change injects and plans, each compared before and after. */
export const changeTruths: readonly Truth<Stage>[] = [
  ...CHANGES.map(
    ({ tool, right, of, elsewhere, proves, as = WRITERS }): Truth<Stage> => ({
      tool,
      cases: [
        {
          about: "does what it says and nothing else",
          as,
          prove: (stage, person) =>
            proves(stage, person, (args) =>
              personOf(stage, person).get<Json>(tool, { ...inTenant(stage, person), ...args }),
            ),
        },
        {
          about: "is refused naming the right, and changes nothing",
          as: [...READERS, "launcher", "stranger"],
          async prove(stage, person) {
            const before = await standing(stage);
            const words = new RegExp(`no account|unknown tool|${right}|there is no|ACCESS_(?:ASSESSMENT|PAYLOADS)`);
            await refuses(stage, person, tool, { ...inTenant(stage, person), ...of(stage, person) }, words);
            expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([]);
          },
        },
        ...(elsewhere === undefined
          ? []
          : [
              {
                about: "reaches nothing of another tenant",
                as: WRITERS,
                async prove(stage: Stage, person: string) {
                  const before = await standing(stage);
                  await refuses(
                    stage,
                    person,
                    tool,
                    { ...inTenant(stage, person), ...elsewhere(stage, person) },
                    /there is no/,
                  );
                  expect(changesBetween(before, await standing(stage), IGNORED)).toEqual([]);
                },
              },
            ]),
      ],
    }),
  ),
  ...(["set_expectation_result", "delete_expectation_result"] as const).map(
    (tool): Truth<Stage> => ({
      tool,
      cases: [
        {
          about: "records on the expectation named, where there is one, and takes none that is not there",
          as: [...WRITERS, ...READERS],
          async prove(stage, person) {
            const simulation_id = here(stage, person, "running", "otherRun");
            const direct: Json[] = await read(stage, person, `/exercises/${simulation_id}/expectations`);
            const more = tool === "set_expectation_result" ? { score: 80 } : { source_id: "nobody" };
            const nowhere = {
              ...inTenant(stage, person),
              simulation_id,
              expectation_id: stage.world.ids.full,
              ...more,
            };
            await refuses(stage, person, tool, nowhere, /unknown tool|there is no|MANAGE_ASSESSMENT|ACCESS_ASSESSMENT/);
            const manual = direct.filter((one) => one.inject_expectation_type === "MANUAL");
            expect(manual.length > 0).toBe(stage.world.tenantOf(person) === FIRST);
            if (!(WRITERS as readonly string[]).includes(person)) return;
            for (const { inject_expectation_id: expectation_id, inject_expectation_user: user } of manual) {
              const args = { ...inTenant(stage, person), simulation_id, expectation_id };
              const kept = async (): Promise<Json> =>
                (await read(stage, person, `/exercises/${simulation_id}/expectations`)).find(
                  (one: Json) => one.inject_expectation_id === expectation_id,
                );
              const asker = personOf(stage, person);
              const { expectation } = await asker.get<Json>("set_expectation_result", { ...args, score: 80 });
              expect(expectation).toMatchObject({ id: expectation_id, score: 80 });
              expect(await kept()).toMatchObject({ inject_expectation_score: 80 });
              const off = await asker.get<Json>("delete_expectation_result", { ...args, source_id: "ui" });
              expect(off.expectation.score, String(user)).toBeUndefined();
              expect(await kept()).toMatchObject({ inject_expectation_score: null, inject_expectation_results: [] });
            }
          },
        },
      ],
    }),
  ),
];
