import {
  create,
  type DescField,
  type DescMethodUnary,
  getOption,
  type MessageInitShape,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { ConnectError } from "@connectrpc/connect";
import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  integer,
  oneof,
  record,
} from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadPlatform } from "../../../../../services/platform-proxy/parts.js";
import { seededId } from "../../../../../services/sandbox/grc/world.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";
import { type Known, leaksIn } from "../../../../truth/frame/leaks.js";

// Whatever is asked of whichever tool, a call in one tenant says nothing of what
// another tenant owns, and changes nothing there: as people of one tenant, and as
// one who may do everything in both.

/** An object of the platform. */
interface Row {
  readonly id: string;
  readonly name: string | null;
  readonly folder: { readonly id: string } | string | null;
}

/** The lists that hold what arguments name. */
const LISTS: Readonly<Record<string, string>> = {
  tenant_id: "folders",
  domain_id: "folders",
  control_id: "applied-controls",
  control_ids: "applied-controls",
  evidence_id: "evidences",
  evidence_ids: "evidences",
  assessment_id: "compliance-assessments",
  requirement_assessment_id: "requirement-assessments",
  risk_assessment_id: "risk-assessments",
  risk_scenario_id: "risk-scenarios",
  study_id: "ebios-rm/studies",
  attack_outcome_id: "ebios-rm/operational-scenarios",
  framework_id: "frameworks",
  reference_control_id: "reference-controls",
  owner_actor_ids: "actors",
  existing_control_ids: "applied-controls",
  asset_id: "assets",
  asset_ids: "assets",
  parent_asset_ids: "assets",
  primary_asset_id: "assets",
  requirement_id: "requirement-nodes",
  organization_id: "entities",
  quantification_id: "crq/quantitative-risk-studies",
};
const OTHERS = ["perimeters", "crq/quantitative-risk-scenarios"];
/** Those of what all tenants share. */
const OPEN = ["frameworks", "requirement-nodes", "reference-controls", "actors"];
const WORDS = ["control", "baltic", "northwind", "a", "access", "risk", "supplier"];
const MAX = 5_000;

const TENANTS = { northwind: seededId("folder:northwind"), baltic: seededId("folder:baltic") } as const;
type TenantKey = keyof typeof TENANTS;

/** Who calls in which tenant; who sees both says which, and is told of both by what lists tenants. */
const CALLS = [
  { as: "reader", tenant: "northwind", seesBoth: false },
  { as: "supplier", tenant: "northwind", seesBoth: false },
  { as: "manager", tenant: "baltic", seesBoth: false },
  { as: "consultant", tenant: "baltic", seesBoth: true },
] as const;
const OF_ALL_TENANTS = ["Whoami", "ListTenants"];

const { bindings } = await loadPlatform("grc");
const TOOLS = bindings.map(({ method }) => method as DescMethodUnary);

let harness: GrcHarness;
/** What there is, by list. */
const rows = new Map<string, readonly Row[]>();
/** What a tenant owns. */
const owned: Record<TenantKey, Row[]> = { northwind: [], baltic: [] };
/** Tokens of pages, whoever was given them. */
const tokens: string[] = [];

const listed = async (path: string): Promise<readonly Row[]> => {
  const answer = (await harness.ask("admin", "GET", `/api/${path}/?limit=${MAX}`)) as unknown as { results: Row[] };
  return answer.results;
};

beforeAll(async () => {
  harness = await startGrc("bearer");
  for (const path of new Set([...Object.values(LISTS), ...OTHERS])) rows.set(path, await listed(path));
  const parents = new Map(
    rows.get("folders")!.map((row) => [row.id, (row as { parent_folder?: { id?: string } }).parent_folder?.id]),
  );
  const topOf = (id: string | undefined): string | undefined =>
    id === undefined || id === TENANTS.northwind || id === TENANTS.baltic ? id : topOf(parents.get(id));
  for (const [path, all] of rows) {
    for (const row of all) {
      const folder = path === "folders" ? row.id : typeof row.folder === "string" ? row.folder : row.folder?.id;
      for (const key of ["northwind", "baltic"] as const) if (topOf(folder) === TENANTS[key]) owned[key].push(row);
    }
  }
  for (const tool of TOOLS.filter(({ name }) => name.startsWith("List"))) {
    for (const { as, tenant } of CALLS) {
      const request = { ...(!OF_ALL_TENANTS.includes(tool.name) && { tenantId: TENANTS[tenant] }), pageSize: 1 };
      const answer = await harness.call(tool, request as never, as).catch(() => undefined);
      const token = (answer as { nextPageToken?: string } | undefined)?.nextPageToken;
      if (token !== undefined) tokens.push(token);
    }
  }
});
afterAll(() => harness.close());

/** Values of an argument: what it names in either tenant, now and then something else that exists. */
function valuesOf(field: DescField): Arbitrary<unknown> {
  if (field.enum !== undefined) return constantFrom(...field.enum.values.map(({ number }) => number).slice(1));
  if (field.scalar === ScalarType.BOOL) return boolean();
  if (field.scalar !== ScalarType.STRING) return integer({ min: 0, max: field.name === "page_size" ? 100 : 4 });
  if (field.name === "page_token") return constantFrom("", ...tokens);
  if (field.name === "query") return constantFrom(...WORDS);
  if (field.name.endsWith("_date") || field.name === "eta") return constant("2027-05-01");
  if (field.name === "link") return constant("https://proof.example/two-tenants");
  const path = LISTS[field.name];
  if (path === undefined) return constant(`two tenants ${field.name}`);
  const own = rows.get(path)!.map(({ id }) => id);
  const any = [...rows.values()].flatMap((all) => all.slice(0, 3).map(({ id }) => id));
  return oneof({ weight: 9, arbitrary: constantFrom(...own) }, { weight: 1, arbitrary: constantFrom(...any) });
}

/** Left out that often for each time it is given: with everything given a list finds nothing. */
const seldom = (value: Arbitrary<unknown>, times: number) =>
  oneof({ weight: times, arbitrary: constant(undefined) }, { weight: 1, arbitrary: value });

function requestOf(tool: DescMethodUnary): Arbitrary<Record<string, unknown>> {
  const fields = tool.input.fields.map((field) => {
    const isNeeded = getOption(field, fieldRules).required;
    const value = field.fieldKind === "list" ? array(valuesOf(field), { minLength: 1, maxLength: 2 }) : valuesOf(field);
    return [field.localName, isNeeded ? value : seldom(value, field.name === "page_token" ? 19 : 3)] as const;
  });
  return record(Object.fromEntries(fields));
}

/** What a tool says, in any outcome, less what was asked. */
async function said(tool: DescMethodUnary, request: Record<string, unknown>, as: string): Promise<string> {
  const given = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
  const text = await harness.call(tool, given as MessageInitShape<typeof tool.input>, as).then(
    (answer) => JSON.stringify(toJson(tool.output, create(tool.output, answer as never))),
    (error: unknown) => ConnectError.from(error).rawMessage,
  );
  const asked = Object.values(request).flat().map(String);
  return asked.filter((one) => one.length > 2).reduce((left, one) => left.replaceAll(one, "-"), text);
}

/** What tells an object of a tenant: its id, and its name where nothing outside the tenant has it. */
function secretsOf(of: TenantKey, to: TenantKey): Known[] {
  const known = [...owned[to], ...OPEN.flatMap((path) => rows.get(path)!)].map(({ name }) => name).join("\n");
  return owned[of].map(({ id, name }) => ({ id, ...(name !== null && !known.includes(name) && { name }) }));
}

/** Calls of each person; all together take some seconds. */
const RUNS = 6;

describe.each(TOOLS.map((tool) => [tool.name, tool] as const))("%s", (name, tool) => {
  test.each(CALLS.filter(({ seesBoth }) => !seesBoth || !OF_ALL_TENANTS.includes(name)))(
    "in $tenant as $as says nothing of the other tenant",
    async ({ as, tenant, seesBoth }) => {
      const others = secretsOf(tenant === "northwind" ? "baltic" : "northwind", tenant);
      await assert(
        asyncProperty(requestOf(tool), async (request) => {
          const asked = seesBoth ? { ...request, tenantId: TENANTS[tenant] } : request;
          expect(leaksIn(await said(tool, asked, as), others, [])).toEqual([]);
        }),
        { numRuns: RUNS, seed: 10, endOnFailure: true },
      );
    },
  );
});

test("nothing of the other tenant was changed by who may write in one", async () => {
  const standing = async () => {
    const all = await Promise.all(["applied-controls", "evidences", "requirement-assessments"].map(listed));
    const ids = new Set(owned.baltic.map(({ id }) => id));
    return all.flat().filter(({ id }) => ids.has(id));
  };
  const before = await standing();
  for (const tool of TOOLS.filter(({ name }) => /^(Create|Update|Delete|Set|Link)/.test(name))) {
    await assert(
      asyncProperty(requestOf(tool), async (request) => {
        await said(tool, { ...request, tenantId: TENANTS.northwind }, "consultant");
      }),
      { numRuns: 3 * RUNS, seed: 11 },
    );
  }
  expect(await standing()).toEqual(before);
});
