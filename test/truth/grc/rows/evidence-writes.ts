import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Stage } from "../stage.js";
import { STRANGERS } from "./tenants.js";
import { CANNOT, changedBy, freshEvidence, refusedWithoutTrace } from "./writing.js";

/** Tools that write evidence. */
export const evidenceWriteTruths: readonly Truth<Stage>[] = [
  {
    tool: "create_evidence",
    cases: [
      {
        about: "makes one piece as it was asked for, and changes nothing else",
        as: ["administrator", "analyst", "both", "auditee"],
        async prove(stage, person) {
          const { ids, run } = stage.world;
          const asked = { name: `Proof by ${person} ${run}`, description: "Seen", link: "https://proof.example/new" };
          const day = { expiry_date: "2027-12-31" };
          const args = { tenant_id: ids.alpha, domain_id: ids.shop, ...asked, ...day, control_ids: [ids.control5] };
          const { said, changes, after } = await changedBy(stage, person, "create_evidence", args);
          expect(said.refusal).toBe("");
          const told = said.result!.evidence as Row;
          expect(told).toMatchObject({ ...asked, ...day });
          expect(after.get(told.id)).toMatchObject({ ...asked, ...day, folder: { id: ids.shop } });
          // Its first version, and the control that it proves.
          const others = changes.filter((one) => one !== `+${told.id}` && !one.startsWith(ids.control5!));
          expect(others).toHaveLength(1);
          expect(others[0]).toMatch(/^\+/);
        },
      },
      {
        about: "who answers a supplier's audit adds proof to it, where its role lets",
        as: ["respondent"],
        async prove(stage, person) {
          const { ids, run, emails } = stage.world;
          const me = await stage.platform.need(emails[person]!, "GET", "/api/iam/current-user/");
          const may = ((me.domain_permissions as Record<string, string[]>)[ids.enclave!] ?? []).includes(
            "add_evidence",
          );
          const args = { name: `Proof by ${person} ${run}` };
          const { said, changes, after } = await changedBy(stage, person, "create_evidence", args);
          expect(said.refusal === "").toBe(may);
          if (!may) return expect(changes).toEqual([]);
          const told = said.result!.evidence as Row;
          expect(after.get(told.id)).toMatchObject({ name: args.name, folder: { id: ids.enclave } });
          expect(changes.filter((one) => one !== `+${told.id}`)).toEqual([expect.stringMatching(/^\+/)]);
        },
      },
      {
        about: "a link that is none for the platform is refused, and nothing is made",
        as: ["analyst"],
        prove: (stage, person) =>
          refusedWithoutTrace(
            stage,
            person,
            "create_evidence",
            { name: `Not made ${stage.world.run}`, link: "urn:example:1" },
            /link/,
          ),
      },
      {
        about: "who may not is refused, and nothing is made",
        as: CANNOT,
        prove: (stage, person) =>
          refusedWithoutTrace(stage, person, "create_evidence", {
            ...(!STRANGERS.some((one) => one === person) && { tenant_id: stage.world.ids.alpha }),
            name: `Not made ${stage.world.run}`,
          }),
      },
    ],
  },
  {
    tool: "update_evidence",
    cases: [
      {
        about: "changes what was asked, makes one version for a link, and changes nothing else",
        as: ["administrator", "analyst", "both"],
        async prove(stage, person) {
          const id = await freshEvidence(stage, { link: "https://proof.example/old", description: "stays" });
          const args = {
            tenant_id: stage.world.ids.alpha,
            evidence_id: id.toUpperCase(),
            link: `https://proof.example/${person}`,
            version_note: "Newer",
            status: "approved",
          };
          const { said, changes, after } = await changedBy(stage, person, "update_evidence", args);
          expect(said.refusal).toBe("");
          expect(changes.filter((one) => one.startsWith(id))).toEqual([`${id}.link`, `${id}.status`]);
          expect(changes.filter((one) => !one.startsWith(id))).toEqual([expect.stringMatching(/^\+/)]);
          expect(after.get(id)).toMatchObject({ link: args.link, status: "Approved", description: "stays" });
          expect(said.result!.evidence).toMatchObject({
            id,
            link: args.link,
            status: "approved",
            description: "stays",
          });
        },
      },
      {
        about: "texts and days are set and emptied, and no version is made for them",
        as: ["analyst"],
        async prove(stage, person) {
          const id = await freshEvidence(stage, { link: "https://proof.example/stays" });
          const asked = { tenant_id: stage.world.ids.alpha, evidence_id: id };
          const fields = { name: `Renamed ${Math.random()}`, description: "New", expiry_date: "2027-09-01" };
          const set = await changedBy(stage, person, "update_evidence", { ...asked, ...fields, status: "missing" });
          expect(set.said.refusal).toBe("");
          // The version that there is is shown by the name of what it is of.
          expect(set.changes.filter((one) => !one.endsWith(".str"))).toEqual(
            ["description", "expiry_date", "name", "status"].map((field) => `${id}.${field}`),
          );
          expect(set.said.result!.evidence).toMatchObject({ id, ...fields, status: "missing" });
          const empty = { description: "", expiry_date: "" };
          const emptied = await changedBy(stage, person, "update_evidence", { ...asked, ...empty });
          expect(emptied.said.refusal).toBe("");
          expect(emptied.changes).toEqual([`${id}.description`, `${id}.expiry_date`]);
          const told = emptied.said.result!.evidence as Row;
          expect([told.description, told.expiry_date]).toEqual([undefined, undefined]);
        },
      },
      {
        about: "a link that is refused leaves everything as it was",
        as: ["administrator", "analyst"],
        async prove(stage, person) {
          const evidence_id = await freshEvidence(stage, { link: "https://proof.example/old" });
          for (const link of ["urn:example:1", "http://no host/", "mailto:a@b.example"]) {
            const args = { tenant_id: stage.world.ids.alpha, evidence_id, name: "Half done", status: "approved", link };
            await refusedWithoutTrace(stage, person, "update_evidence", args, /link/);
          }
        },
      },
      {
        about: "who may not is refused, and nothing changes",
        as: CANNOT,
        prove: (stage, person) =>
          refusedWithoutTrace(stage, person, "update_evidence", {
            evidence_id: stage.world.ids.evidence0,
            name: "No",
            link: "https://proof.example/no",
          }),
      },
      {
        about: "a status that is closed to a respondent is not said to be written",
        as: ["auditee", "respondent"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const folder = person === "respondent" ? ids.enclave : ids.alpha;
          const evidence_id = await freshEvidence(stage, { folder });
          const args = { evidence_id, status: "approved" };
          const { said, changes } = await changedBy(stage, person, "update_evidence", args);
          expect(said.result !== undefined).toBe(changes.includes(`${evidence_id}.status`));
        },
      },
    ],
  },
];
