import type { AevHarness } from "../../../support/platforms/aev.js";

type Row = Readonly<Record<string, string>>;

/** Where something is needed that there is in a recorded run and not here. */
export interface Wanted {
  readonly tenant: string;
  /** Who asks for it. */
  readonly as: string;
  /** The path up to its id, such as /api/tenants/{tenant}/channels. */
  readonly path: string;
}

/** How an object of a kind is made, below the route of its kind. */
interface Made {
  readonly route: RegExp;
  /** Where it is made, where not at that route. */
  readonly at?: (path: string) => string;
  readonly body: (mark: string) => object;
  readonly id: string;
}

const flags = [{ flag_type: "VALUE", flag_value: "1" }];
const injectBody = {
  inject_title: "Stand-in",
  inject_injector_contract: "d02e9132-b9d0-4daa-b3b1-4b9871f8472c",
  inject_content: { content: "Call" },
  inject_depends_duration: 60,
};

/** Sends mails: it is in every installation, and whoever is signed in reads it. */
export const MAIL_CONTRACT = "138ad8f8-32f8-4a22-8114-aaa12322bd09";

const MADE: readonly Made[] = [
  { route: /\/(?:scenarios|exercises)\/[^/]+\/injects$/, body: () => injectBody, id: "inject_id" },
  { route: /\/atomic-testings$/, body: () => injectBody, id: "inject_id" },
  { route: /\/scenarios$/, body: () => ({ scenario_name: "Stand-in" }), id: "scenario_id" },
  { route: /\/exercises$/, body: () => ({ exercise_name: "Stand-in" }), id: "exercise_id" },
  {
    route: /\/endpoints$/,
    at: (path) => `${path}/agentless`,
    body: (mark) => ({
      asset_name: mark,
      asset_description: "Stand-in",
      endpoint_hostname: "stand-in",
      endpoint_platform: "Linux",
      endpoint_arch: "x86_64",
      endpoint_ips: ["10.1.1.1"],
    }),
    id: "asset_id",
  },
  {
    route: /\/asset_groups$/,
    body: (mark) => ({
      asset_group_name: mark,
      asset_group_description: "Stand-in",
      asset_group_dynamic_filter: {
        mode: "or",
        filters: [{ key: "asset_name", operator: "contains", values: ["golden"], mode: "or" }],
      },
    }),
    id: "asset_group_id",
  },
  {
    route: /\/vulnerabilities$/,
    body: (mark) => ({ vulnerability_external_id: mark, vulnerability_cvss_v31: 5 }),
    id: "vulnerability_id",
  },
  {
    route: /\/channels$/,
    body: (mark) => ({ channel_name: mark, channel_type: "tv", channel_description: "Stand-in" }),
    id: "channel_id",
  },
  { route: /\/challenges$/, body: (mark) => ({ challenge_name: mark, challenge_flags: flags }), id: "challenge_id" },
  {
    route: /\/lessons_templates$|\/lessons_apply_template$/,
    at: (path) => path.replace(/\/(?:scenarios|exercises)\/.*$/, "/lessons_templates"),
    body: (mark) => ({ lessons_template_name: mark }),
    id: "lessonstemplate_id",
  },
  {
    route: /\/lessons_template_categories$/,
    body: () => ({ lessons_template_category_name: "Stand-in", lessons_template_category_order: 1 }),
    id: "lessonstemplatecategory_id",
  },
  {
    route: /\/lessons_template_questions$/,
    body: () => ({ lessons_template_question_content: "Stand-in?", lessons_template_question_order: 1 }),
    id: "lessonstemplatequestion_id",
  },
  {
    route: /\/payloads$/,
    body: (mark) => ({
      payload_type: "Command",
      payload_name: mark,
      payload_source: "MANUAL",
      payload_status: "UNVERIFIED",
      payload_platforms: ["Linux"],
      payload_domains: [],
      payload_expectations: [],
      payload_execution_arch: "ALL_ARCHITECTURES",
      command_executor: "sh",
      command_content: "id",
    }),
    id: "payload_id",
  },
  { route: /\/variables$/, body: () => ({ variable_key: "town" }), id: "variable_id" },
  { route: /\/reports$/, body: (mark) => ({ report_name: mark, report_informations: [] }), id: "report_id" },
];

/** What is not made by itself: one that there is stands in. */
const FOUND: readonly (readonly [route: RegExp, id: string])[] = [
  [/\/documents$/, "document_id"],
  [/\/attack_patterns$/, "attack_pattern_id"],
  [/\/teams$/, "team_id"],
];

/** The id of an object that is made, or is there, for a recorded one of which nothing is known. */
export async function standIn(stack: AevHarness, { tenant, as, path }: Wanted): Promise<string> {
  const base = `/api/tenants/${tenant}`;
  const mark = `Stand-in ${Math.random()}`;
  const post = async (route: string, body: object): Promise<Row> =>
    (await stack.ask("admin", "POST", route, body)).body as Row;
  const first = async (who: string, route: string): Promise<Row> =>
    ((await stack.ask(who, "POST", `${base}${route}/search`, { size: 1 })).body as { content: Row[] }).content[0] ?? {};
  const make = async (route: string): Promise<string> => {
    const made = MADE.find((one) => one.route.test(route));
    if (made === undefined) throw new Error(`nothing stands in at ${route}`);
    return (await post(made.at?.(route) ?? route, made.body(mark)))[made.id] ?? "none";
  };

  const found = FOUND.find(([route]) => route.test(path));
  if (found !== undefined) return (await first("admin", path.slice(base.length)))[found[1]] ?? "none";
  if (path.endsWith("/exercises") && as === "launcher") {
    const { scenario_id } = await first("launcher", "/scenarios");
    return (await post(`${base}/scenarios/${scenario_id}/exercise/running`, {})).exercise_id!;
  }
  if (path === `${base}/injects`) return make(`${base}/scenarios/${await make(`${base}/scenarios`)}/injects`);
  if (path === `${base}/injector_contracts`) return MAIL_CONTRACT;
  if (path === `${base}/expectations`) {
    const found = (await stack.ask("admin", "POST", `${base}/exercises/search`, { size: 100 })).body;
    for (const { exercise_id } of (found as { content: Row[] }).content) {
      const { body } = await stack.ask("admin", "GET", `${base}/exercises/${exercise_id}/expectations`);
      const one = (body as Row[]).find(({ inject_expectation_type: type }) => type === "MANUAL");
      if (one !== undefined) return one.inject_expectation_id!;
    }
  }
  if (path.endsWith("/articles")) {
    const article_channel = await make(`${base}/channels`);
    return (await post(path, { article_name: mark, article_channel })).article_id ?? "none";
  }
  if (path.endsWith("/findings")) {
    const finding_inject_id = await make(`${base}/atomic-testings`);
    const body = { finding_field: "stdout", finding_type: "username", finding_value: mark, finding_labels: ["kept"] };
    return (await post(path, { ...body, finding_inject_id })).finding_id ?? "none";
  }
  return make(path);
}
