import { randomUUID } from "node:crypto";
import { type Body, isBlank, objectOf, textOf, textsOf } from "../input.js";
import type { Entry, Json, Values } from "../kinds/kind.js";
import { Bare, invalid, notFound, ok, refusal, unstorable } from "../replies.js";
import { holds, need } from "../rights.js";
import { type Fields, searchRows } from "../search.js";
import { iso } from "../views/scenarios.js";
import type { World } from "../world.js";
import type { Route } from "./route.js";

const PATH = "/payloads";
const TYPES = ["Command", "Executable", "FileDrop", "DnsResolution", "NetworkTraffic"];
const IMPLANT = "49229430-b5b5-431f-ba5b-f36f599b0144";

const FIELDS: Fields<Entry> = {
  payload_name: { of: ({ values }) => values.payload_name as string, filter: true, sort: true, text: true },
  payload_description: { of: ({ values }) => values.payload_description as string | null, filter: true, sort: true },
  payload_status: { of: ({ values }) => values.payload_status as string, filter: true },
  payload_source: { of: ({ values }) => values.payload_source as string, filter: true, sort: true },
  payload_platforms: { of: ({ values }) => values.payload_platforms as string[], filter: true },
  payload_updated_at: { of: (row) => row.updatedAt, filter: true, sort: true, instant: true },
};

/** Only reads by id and writes tell. */
const READ = ["payload_tags", "payload_domains", "payload_attack_patterns"];

/** What agents execute, each with the contract that runs it. */
export function payloadRoutes(world: World): Route[] {
  const shelf = (): Map<string, Entry> => {
    const own = world.entries.get("payloads") ?? new Map<string, Entry>();
    world.entries.set("payloads", own);
    return own;
  };
  const byId = (id: string | undefined, what: string | null = null): Entry => {
    const entry = shelf().get(id ?? "");
    if (entry === undefined) throw notFound(what);
    return entry;
  };

  return [
    {
      method: "POST",
      path: `${PATH}/search`,
      answer: ({ actor, body }) => {
        // Open to everybody, cut to what one may see.
        const all = holds(actor, "ACCESS_PAYLOADS") ? [...shelf().values()] : [];
        const rows = all.filter(({ tenant }) => tenant === actor.tenant);
        return ok(searchRows(rows, FIELDS, body, {}, (row) => rowOf(row)));
      },
    },
    {
      method: "POST",
      path: PATH,
      answer: ({ actor, body, now }) => {
        need(holds(actor, "MANAGE_PAYLOADS"));
        const input = objectOf(body);
        const needed = ["type", "name", "source", "status"].filter((key) =>
          isBlank(textOf(input, `payload_${key}`) ?? ""),
        );
        if (textsOf(input, "payload_platforms").length === 0) needed.push("platforms");
        if (needed.length > 0)
          throw invalid(Object.fromEntries(needed.map((key) => [`payload_${key}`, "This value should not be blank."])));
        const type = textOf(input, "payload_type") as string;
        if (!TYPES.includes(type)) throw refusal(400, `No PayloadType found for key: ${type}`);
        const arch = textOf(input, "payload_execution_arch") ?? "ALL_ARCHITECTURES";
        if (type === "Executable" && arch === "ALL_ARCHITECTURES")
          throw refusal(400, "Executable architecture must be x86_64 or arm64.");
        const isEmpty = type === "Command" && textOf(input, "command_content") === null;
        if (type === "NetworkTraffic" || isEmpty) throw new Bare(500);
        needConsistent(input);
        const fixed = {
          payload_type: type,
          payload_source: input.payload_source,
          payload_status: input.payload_status,
        };
        return ok(view(addPayload(world, actor.tenant, { ...valuesOf(input), ...(fixed as Values) }, now)));
      },
    },
    {
      method: "GET",
      path: `${PATH}/{id}`,
      answer: ({ actor, ids: [id] }) => {
        need(holds(actor, "ACCESS_PAYLOADS"));
        return ok(view(byId(id)));
      },
    },
    {
      method: "PUT",
      path: `${PATH}/{id}`,
      answer: ({ actor, ids: [id], body, now }) => {
        need(holds(actor, "MANAGE_PAYLOADS"));
        const input = objectOf(body);
        if (isBlank(textOf(input, "payload_name") ?? "")) throw new Bare(400);
        const before = byId(id);
        if (before.tenant !== actor.tenant) throw new Bare(500);
        needConsistent(input);
        const { payload_type, payload_source, payload_status } = before.values as Record<string, Json>;
        const fixed = { payload_type, payload_source, payload_status } as Values;
        const after: Entry = { ...before, values: { ...valuesOf(input), ...fixed }, updatedAt: now };
        shelf().set(after.id, after);
        for (const contract of world.contracts.values())
          if (contract.payload?.id === after.id)
            world.contracts.set(contract.id, { ...contract, label: String(after.values.payload_name) });
        return ok(view(after));
      },
    },
    {
      method: "DELETE",
      path: `${PATH}/{id}`,
      answer: ({ actor, ids: [id = ""] }) => {
        need(holds(actor, "DELETE_PAYLOADS"));
        byId(id, `Payload not found: ${id}`);
        shelf().delete(id);
        for (const contract of [...world.contracts.values()])
          if (contract.payload?.id === id) world.contracts.delete(contract.id);
        for (const inject of [...world.injects.values()])
          if (inject.contract.payload?.id === id) world.injects.delete(inject.id);
        return ok();
      },
    },
  ];
}

/** @throws Refusal 409 for half of a command, as the database's checks do. */
function needConsistent(input: Body): void {
  for (const [check, ...keys] of [
    ["chk_payload_cmd_consistency", "command_executor", "command_content"],
    ["chk_payload_cleanup_cmd_consistency", "payload_cleanup_executor", "payload_cleanup_command"],
  ] as const) {
    const [shell, command] = keys.map((key) => textOf(input, key));
    if ((shell === null && command === null) || (shell && command)) continue;
    throw unstorable(`ERROR: new row for relation "payloads" violates check constraint "${check}"`, check);
  }
}

/** Puts a payload into a tenant, and the contract that runs it. */
export function addPayload(
  world: World,
  tenant: string,
  values: Values,
  now: number,
  ids: readonly string[] = [randomUUID(), randomUUID()],
): Entry {
  const [id = "", contract = ""] = ids;
  const entry: Entry = { id, tenant, values, createdAt: now, updatedAt: now };
  const entries = world.entries.get("payloads") ?? new Map<string, Entry>();
  world.entries.set("payloads", entries.set(id, entry));
  const label = String(values.payload_name);
  const [technique = ""] = (values.payload_attack_patterns ?? []) as string[];
  world.contracts.set(contract, {
    id: contract,
    injector: IMPLANT,
    type: "openaev_implant",
    label,
    labelFr: label,
    platforms: (values.payload_platforms ?? []) as string[],
    technique: world.techniques.get(technique),
    payload: { id, tenant },
    createdAt: now,
  });
  return entry;
}

/** What is left out becomes empty. */
function valuesOf(input: Body): Values {
  const texts = ["payload_tags", "payload_domains", "payload_attack_patterns", "payload_platforms"];
  const plain = [
    "payload_name payload_description payload_cleanup_executor payload_cleanup_command",
    "command_executor command_content dns_resolution_hostname executable_file file_drop_file",
  ].flatMap((line) => line.split(" "));
  return {
    ...Object.fromEntries(plain.map((key) => [key, textOf(input, key)])),
    ...Object.fromEntries(texts.map((key) => [key, textsOf(input, key)])),
    payload_execution_arch: textOf(input, "payload_execution_arch") ?? "ALL_ARCHITECTURES",
    payload_expectations: (input.payload_expectations as Json | undefined) ?? ["PREVENTION", "DETECTION"],
    payload_arguments: (input.payload_arguments as Json | undefined) ?? null,
    payload_prerequisites: (input.payload_prerequisites as Json | undefined) ?? null,
    payload_output_parsers: (input.payload_output_parsers as Json | undefined) ?? [],
  };
}

function view({ id, values, createdAt, updatedAt }: Entry): object {
  return {
    payload_id: id,
    payload_external_id: null,
    payload_collector_type: null,
    payload_detection_remediations: [],
    ...values,
    payload_created_at: iso(createdAt),
    payload_updated_at: iso(updatedAt),
  };
}

function rowOf(entry: Entry): object {
  const { values } = entry;
  const own = values.payload_type === "Command" ? "command" : values.payload_type === "DnsResolution" ? "dns" : "file";
  const shown = Object.entries(view(entry)).filter(
    ([key]) => !READ.includes(key) && (key.startsWith("payload_") || key.startsWith(own)),
  );
  return { listened: true, payload_elevation_required: false, ...Object.fromEntries(shown) };
}
