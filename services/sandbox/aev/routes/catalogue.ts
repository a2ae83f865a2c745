import { notFound, ok } from "../replies.js";
import { type Actor, holds, may, need } from "../rights.js";
import { type SearchRules, searchRows } from "../search.js";
import { endpointRow, findingRow, techniqueRow, userView } from "../views/catalogue.js";
import { ENDPOINT_FIELDS, findingFields, TECHNIQUE_FIELDS } from "../views/fields.js";
import { settingsView } from "../views/settings.js";
import { DEFAULT_TENANT, type Finding, rowsOf, type World } from "../world.js";
import type { Route } from "./route.js";

/** Accounts, settings, endpoints, techniques, and findings. */
export function catalogueRoutes(world: World, baseUrl: () => string, trust: string): Route[] {
  const findings = findingFields(world);
  const search = (
    actor: Actor,
    body: unknown,
    query: URLSearchParams,
    rules: SearchRules,
    keep: (finding: Finding) => boolean,
  ) => {
    const distinct = query.get("distinct") === "true";
    const rows = [...world.findings.values()].filter((row) => row.tenant === actor.tenant && keep(row));
    // Of several findings of one inject on one endpoint, a search tells it of the first alone.
    const first = new Map<string, string>();
    for (const { id, inject, assets } of world.findings.values()) {
      for (const asset of assets) if (!first.has(`${inject} ${asset}`)) first.set(`${inject} ${asset}`, id);
    }
    const view = (row: Finding) => {
      const assets = row.assets.filter((asset) => distinct || first.get(`${row.inject} ${asset}`) === row.id);
      return findingRow(world, { ...row, assets }, distinct);
    };
    return ok(searchRows(rows, findings, body, rules, view));
  };
  const scoped = (kind: string, key: string): Route => ({
    method: "POST",
    path: `/findings/${kind}/{id}/search`,
    answer: ({ actor, ids: [id = ""], body, query }) => {
      // Injects are looked up before rights are, other parents not at all.
      if (kind === "injects" && !world.injects.has(id)) throw notFound(`Inject not found with id: ${id}`);
      // Only what is asked for by simulation or inject is given whatever came of it.
      const whole = kind === "exercises" || kind === "injects";
      need(mayRead(actor, kind, id));
      const keep = (row: Finding) => [findings[key]?.of(row)].flat().includes(id) && (whole || isLatest(world, row));
      return search(actor, body, query, { silent: true }, keep);
    },
  });

  return [
    {
      method: "GET",
      path: "/me",
      global: true,
      answer: ({ actor: { user } }) => ok(userView(user, DEFAULT_TENANT)),
    },
    {
      method: "GET",
      path: "/me/tenants",
      global: true,
      answer: ({ actor: { user } }) =>
        ok(
          rowsOf(world.tenants, user.tenants).map(({ id, name, description }) => ({
            tenant_id: id,
            tenant_name: name,
            tenant_description: description,
            tenant_deleted_at: null,
          })),
        ),
    },
    { method: "GET", path: "/settings", global: true, answer: () => ok(settingsView(baseUrl(), trust)) },
    {
      method: "POST",
      path: "/endpoints/search",
      answer: ({ actor, body }) => {
        need(holds(actor, "ACCESS_ASSETS"));
        const rows = [...world.endpoints.values()].filter(({ tenant }) => tenant === actor.tenant);
        return ok(searchRows(rows, ENDPOINT_FIELDS, body, { joined: "rows" }, endpointRow));
      },
    },
    {
      method: "POST",
      path: "/attack_patterns/search",
      answer: ({ body }) => ok(searchRows([...world.techniques.values()], TECHNIQUE_FIELDS, body, {}, techniqueRow)),
    },
    {
      method: "POST",
      path: "/findings/search",
      answer: ({ actor, body, query }) => {
        need(holds(actor, "ACCESS_FINDINGS"));
        return search(actor, body, query, {}, (row) => isLatest(world, row));
      },
    },
    {
      method: "POST",
      path: "/organizations/options",
      answer({ actor, body }) {
        const wanted = Array.isArray(body) ? body : [];
        const here = [...(world.entries.get("organizations")?.values() ?? [])].filter(
          (one) => one.tenant === actor.tenant,
        );
        const found = here.filter(({ id }) => wanted.includes(id));
        return ok(found.map(({ id, values }) => ({ id, label: values.organization_name })));
      },
    },
    scoped("exercises", "finding_simulation"),
    scoped("scenarios", "finding_scenario"),
    scoped("endpoints", "finding_assets"),
    scoped("injects", "finding_inject_id"),
  ];
}

/** Findings below an object are shown to whom that object is shown. */
function mayRead(actor: Actor, kind: string, id: string): boolean {
  if (kind === "endpoints") return holds(actor, "ACCESS_ASSETS");
  return may(actor, "ACCESS_ASSESSMENT", id, "OBSERVER");
}

/** Of an atomic test, or of the last simulation of its scenario to have been started and finished. */
function isLatest(world: World, finding: Finding): boolean {
  const simulation = world.simulations.get(world.injects.get(finding.inject)?.simulation ?? "");
  if (simulation === undefined) return true;
  const { scenario, start } = simulation;
  const finished = [...world.simulations.values()].filter((one) => one.status === "FINISHED");
  return (
    finished.includes(simulation) &&
    !finished.some((one) => scenario !== null && one.scenario === scenario && (one.start ?? 0) > (start ?? 0))
  );
}
