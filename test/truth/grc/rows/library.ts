import { expect } from "vitest";
import { everyPage, type Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { idOf, LISTS } from "../seen.js";
import { holdsNothingHidden, personOf, refuses, type Stage, seenBy, tenantOf } from "../stage.js";
import { NOWHERE, STRANGERS, WORKERS } from "./tenants.js";

const NODES = "/api/requirement-nodes/";
const REFERENCES = "/api/reference-controls/";
const ADVISORIES = "/api/security-advisories/";

/** A tool that reads what the libraries hold, proven as everybody; nothing is to be there for whom it is not offered. */
function read(tool: string, prove: (stage: Stage, person: string, tenant_id: string) => Promise<void>, args = {}) {
  return {
    tool,
    cases: [
      {
        about: "tells what the platform tells the same person",
        as: WORKERS,
        async prove(stage: Stage, person: string) {
          if (!(await personOf(stage, person).tools()).includes(tool)) return;
          await prove(stage, person, (await tenantOf(stage, person)).id);
        },
      },
      {
        about: "is refused to who has no role or no account",
        as: STRANGERS,
        prove: (stage: Stage, person: string) =>
          refuses(stage, person, tool, typeof args === "function" ? args(stage) : args, NOWHERE),
      },
    ],
  };
}

const plain = ({ world }: Stage) => ({ framework_id: world.ids.plain! });

/** Tools that read the tenant itself, what libraries hold, and known vulnerabilities. */
export const libraryTruths: readonly Truth<Stage>[] = [
  read("get_tenant", async (stage, person, tenant_id) => {
    const tenant = await tenantOf(stage, person);
    const told = (await personOf(stage, person).get<{ tenant: Row }>("get_tenant", { tenant_id })).tenant;
    expect([told.id, told.name]).toEqual([tenant.id, tenant.name]);
    const inside = [...tenant.folders.keys()].filter((id) => id !== tenant.id).sort();
    expect(((told.domains ?? []) as Row[]).map(({ id }) => id).sort()).toEqual(inside);
  }),
  read(
    "list_requirements",
    async (stage, person, tenant_id) => {
      for (const framework of [stage.world.ids.plain!, stage.world.ids.grouped!]) {
        const query = { framework, ordering: "order_id,id" };
        const direct = await seenBy(stage, person).read(LISTS.framework, framework);
        const args = { tenant_id, framework_id: framework };
        if (direct === undefined) {
          await refuses(stage, person, "list_requirements", args);
          continue;
        }
        const nodes = await stage.platform.list(stage.world.emails[person]!, NODES, query);
        const reading = { tool: "list_requirements", rows: "requirements", args, pageSize: 5 };
        const { rows, repeated } = await everyPage(personOf(stage, person), reading);
        expect(repeated).toEqual([]);
        expect(rows.map(({ id, assessable }) => [id, assessable])).toEqual(
          nodes.map((one) => [one.id, one.assessable]),
        );
        const word = String(nodes.find(({ description }) => description)?.description ?? nodes[0]!.name).split(" ")[0]!;
        const found = await everyPage(personOf(stage, person), { ...reading, args: { ...args, query: word } });
        const holds = (one: Row) =>
          `${one.ref_id} ${one.name} ${one.description}`.toLowerCase().includes(word.toLowerCase());
        expect(found.rows.map(({ id }) => id)).toEqual(nodes.filter(holds).map(({ id }) => id));
      }
    },
    plain,
  ),
  read(
    "get_requirement",
    async (stage, person, tenant_id) => {
      const email = stage.world.emails[person]!;
      const framework = stage.world.ids.grouped!;
      const nodes = await stage.platform.list(email, NODES, { framework, ordering: "order_id,id" });
      for (const node of nodes.slice(0, 3)) {
        const direct = (await stage.platform.read(email, NODES, node.id))!;
        const args = { tenant_id, requirement_id: node.id };
        const { result, text } = await personOf(stage, person).ask("get_requirement", args);
        const told = result!.requirement as Row;
        expect([told.id, told.assessable]).toEqual([direct.id, direct.assessable]);
        expect([told.name ?? null, told.description ?? null]).toEqual([
          direct.name || null,
          direct.description || null,
        ]);
        expect(idOf(told.framework)).toBe(framework);
        await holdsNothingHidden(stage, person, text);
      }
    },
    ({ world }: Stage) => ({ requirement_id: world.ids.plain! }),
  ),
  read(
    "list_maturity_levels",
    async (stage, person, tenant_id) => {
      for (const framework_id of [stage.world.ids.plain!, stage.world.ids.grouped!]) {
        const direct = await seenBy(stage, person).read(LISTS.framework, framework_id);
        const args = { tenant_id, framework_id };
        if (direct === undefined) {
          await refuses(stage, person, "list_maturity_levels", args);
          continue;
        }
        const told = await personOf(stage, person).get<Row>("list_maturity_levels", args);
        expect([told.min_score, told.max_score]).toEqual([direct.min_score, direct.max_score]);
        const levels = (direct.scores_definition ?? []) as Row[];
        expect(((told.levels ?? []) as Row[]).map(({ name }) => name)).toEqual(levels.map(({ name }) => name));
      }
    },
    plain,
  ),
  read("list_reference_controls", async (stage, person, tenant_id) => {
    const tenant = await tenantOf(stage, person);
    for (const category of [undefined, "policy"]) {
      const query = { ordering: "created_at,id", ...(category && { category }) };
      const direct = (await stage.platform.list(stage.world.emails[person]!, REFERENCES, query)).filter(
        ({ folder }) => idOf(folder) === stage.world.ids.root || tenant.folders.has(idOf(folder) ?? ""),
      );
      const args = { tenant_id, ...(category && { category }) };
      const reading = { tool: "list_reference_controls", rows: "reference_controls", args, pageSize: 100 };
      const { rows, repeated } = await everyPage(personOf(stage, person), reading);
      expect(repeated).toEqual([]);
      expect(rows.map(({ id }) => id)).toEqual(direct.map(({ id }) => id));
    }
  }),
  read("list_cves", async (stage, person, tenant_id) => {
    const query = { source: "CVE", folder: stage.world.ids.root!, ordering: "created_at,id" };
    const direct = await stage.platform.list(stage.world.emails[person]!, ADVISORIES, query);
    for (const args of [{}, { exploited_only: true }, { min_cvss: 9 }]) {
      const reading = { tool: "list_cves", rows: "cves", args: { tenant_id, ...args }, pageSize: 50 };
      const { rows, repeated } = await everyPage(personOf(stage, person), reading);
      expect(repeated).toEqual([]);
      const wanted = direct.filter(
        (one) =>
          (!("exploited_only" in args) || one.is_actively_exploited === true) &&
          (!("min_cvss" in args) || (one.cvss_base_score !== null && Number(one.cvss_base_score) >= 9)),
      );
      expect(rows.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
    }
  }),
  read(
    "get_cve",
    async (stage, person, tenant_id) => {
      await refuses(stage, person, "get_cve", { tenant_id, cve_id: "CVE-1900-0001" }, /has no CVE-1900-0001/);
      const query = { source: "CVE", folder: stage.world.ids.root!, limit: 1 };
      const [one] = await stage.platform.list(stage.world.emails[person]!, ADVISORIES, query);
      if (one === undefined) return;
      const told = await personOf(stage, person).get<{ cve: Row }>("get_cve", { tenant_id, cve_id: one.ref_id });
      expect(told.cve.id).toBe(one.id);
    },
    { cve_id: "CVE-2014-0160" },
  ),
];
