import { objectOf, textsOf } from "../input.js";
import { notFound, ok } from "../replies.js";
import { holds, need } from "../rights.js";
import { type Fields, searchRows } from "../search.js";
import { contractRow } from "../views/inject.js";
import { contractRead } from "../views/injects.js";
import type { Contract, World } from "../world.js";
import type { Route } from "./route.js";

const FIELDS: Fields<Contract> = {
  injector_contract_labels: { of: (row) => row.label, filter: true, sort: true, text: true },
  injector_contract_platforms: { of: (row) => row.platforms, filter: true },
  injector_contract_attack_patterns: { of: (row) => row.technique?.externalId ?? null, filter: true },
  injector_contract_updated_at: { of: (row) => row.createdAt, filter: true, sort: true, instant: true },
};

/** What injects can do: open to everybody, but those of payloads to whom payloads are shown. */
export function contractRoutes(world: World): Route[] {
  const payloadOf = ({ payload }: Contract) => world.entries.get("payloads")?.get(payload?.id ?? "");
  return [
    {
      method: "POST",
      path: "/injector_contracts/search",
      answer: ({ actor, body }) => {
        const input = objectOf(body);
        const wanted = textsOf(input, "injector_contract_ids_to_process");
        const isShown = holds(actor, "ACCESS_PAYLOADS");
        const rows = [...world.contracts.values()].filter(
          ({ id, payload }) =>
            (payload === undefined || (isShown && payload.tenant === actor.tenant)) &&
            (wanted.length === 0 || wanted.includes(id)),
        );
        const isFull = input.include_full_details !== false;
        const typeOf = (row: Contract) => (payloadOf(row)?.values.payload_type as string | undefined) ?? null;
        return ok(
          searchRows(rows, FIELDS, body, { placesNulls: true }, (row) => contractRow(row, isFull, typeOf(row))),
        );
      },
    },
    {
      method: "GET",
      path: "/injector_contracts/{id}",
      answer: ({ actor, ids: [id = ""] }) => {
        const contract = world.contracts.get(id);
        const { payload } = contract ?? {};
        if (contract === undefined || (payload !== undefined && payload.tenant !== actor.tenant))
          throw notFound("Injector contract not found");
        need(payload === undefined || holds(actor, "ACCESS_PAYLOADS"));
        const of = payloadOf(contract);
        return ok(contractRead(contract, of === undefined ? null : { payload_id: of.id, ...of.values }));
      },
    },
  ];
}
