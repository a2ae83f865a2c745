import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Case, Truth } from "../../frame/table.js";
import { personOf, type Stage } from "../stage.js";

/** Observables that keep their values in attributes of their own. */
const KEPT_ELSEWHERE = (run: string): readonly (readonly [type: string, fields: object, value: string])[] => [
  ["Mutex", { name: `mtx-${run}` }, `mtx-${run}`],
  ["Directory", { path: `/opt/${run}/x` }, `/opt/${run}/x`],
  ["Persona", { persona_name: `bob ${run}`, persona_type: "social" }, `bob ${run}`],
  ["SSH-Key", { fingerprint_sha256: `SHA256:${run}/a` }, `SHA256:${run}/a`],
  ["User-Account", { account_login: `root-${run}`, user_id: "0" }, `root-${run}`],
  ["Windows-Registry-Key", { attribute_key: `HKLM\\Software\\${run}` }, `HKLM\\Software\\${run}`],
];

const values: Case<Stage> = {
  about: "values in attributes of their own are found whole, in part, and looked up",
  as: ["analyst"],
  async prove(stage, person) {
    for (const [type, fields, value] of KEPT_ELSEWHERE(stage.world.run)) {
      const id = await stage.world.observe(type, fields);
      for (const query of [value, value.toUpperCase(), value.slice(1, -1)]) {
        const { observables = [] } = await personOf(stage, person).get<{ observables?: Row[] }>("list_observables", {
          query,
          types: [type],
        });
        // Words are alternatives: another one may have one of two.
        expect([type, query, observables.some((one) => one.id === id)]).toEqual([type, query, true]);
      }
      const looked = await personOf(stage, person).get<{ matches?: Row[] }>("lookup_ioc", { value });
      expect([type, (looked.matches ?? []).map((one) => one.id)]).toEqual([type, [id]]);
    }
  },
};

/** How observables are found whose value is in an attribute of their own. */
export const valueTruths: readonly Truth<Stage>[] = [{ tool: "list_observables", cases: [values] }];
